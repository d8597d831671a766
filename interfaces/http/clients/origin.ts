/** Facts of the request that answers depend on. */
export interface Origin {
  /** Base WebSocket address of lives as this client reaches them, or '' (D22). */
  readonly baseUrl: string
  /** What stands in front of the path of a page: `https://host/path`; the path alone where `baseUrl` is ''. */
  readonly pagesUrl: string
  /** Of the client, for limits. */
  readonly address: string
  /** Addresses of the interface, one for each prefix; paths where the host is not known. */
  readonly servers: ReadonlyArray<string>
  /** COMPAT_STRICT: answers hold the members of the interface alone. */
  readonly strict: boolean
}
