// A certified provider of OpenID Connect (oidc-provider) on loopback, for one client.
// node real_provider.mjs PORT REDIRECT AUDIENCE
import { createHash, generateKeyPairSync } from "node:crypto";
import Provider from "oidc-provider";

const [port, redirect, audience] = process.argv.slice(2);
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const jwk = { ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256" };
jwk.kid = createHash("sha256").update(jwk.n).digest("hex").slice(0, 16);

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "privet",
      client_secret: "the client's secret",
      redirect_uris: [redirect],
      grant_types: ["authorization_code"],
      response_types: ["code"],
    },
  ],
  jwks: { keys: [jwk] },
  cookies: { keys: ["a key of a test"] },
  pkce: { required: () => true },
  conformIdTokenClaims: false,
  claims: { openid: ["sub"], profile: ["preferred_username", "groups"] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      preferred_username: id,
      groups: id === "grace" ? ["owners"] : [],
    }),
  }),
  extraTokenClaims: (_, token) => ({ preferred_username: token.accountId }),
  features: {
    devInteractions: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => audience,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: "openid profile",
        audience,
        accessTokenFormat: "jwt",
        jwt: { sign: { alg: "RS256" } },
      }),
    },
  },
});
provider.listen(Number(port), "127.0.0.1", () => console.log("listening"));
