"""Sign in with OpenID Connect, at a provider that the owner names.

- :mod:`~privet.service.oidc.settings`: which provider, and the rule from claims to accounts
- :mod:`~privet.service.oidc.provider`: what the provider says about itself, its keys, its tokens
- :mod:`~privet.service.oidc.sign_in`: the page's way to the provider and back
"""
