/** Version of the interface that is served (D34); the product's own is in the header X-Service-Version. */
export const INTERFACE_VERSION = '0.6.2'
