"""Files and messages that earlier versions wrote, and tests that the present code reads them."""
