/**
 * Version of the REST and WebSocket interface that Stenolog implements. Stenolog adds members to this interface, unless
 * COMPAT_STRICT is set. The header X-Service-Version holds the version of the product.
 */
export const INTERFACE_VERSION = '0.6.2'
