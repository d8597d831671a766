/** Version of the REST and WebSocket API. The header X-Service-Version holds the version of the product. */
export const INTERFACE_VERSION = '0.6.2'
