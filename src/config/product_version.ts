/** The version of the build, as in `deno.json`. */
export const VERSION = "0.1.0";

/** `User-Agent` of the providers `http` and `rest` unless configured: the product with its major and minor version. */
export const USER_AGENT: string = `gate/${VERSION.split(".", 2).join(".")}`;
