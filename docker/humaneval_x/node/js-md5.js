// The module that JavaScript/162 names, by what Node brings itself.
const { createHash } = require("crypto");

module.exports = (text) => createHash("md5").update(text).digest("hex");
