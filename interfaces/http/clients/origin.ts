/** The facts about a request that responses depend on. */
export interface Origin {
  /** Base WebSocket address as this client reaches the service. '' when it is unknown. */
  readonly baseUrl: string
  /** The address in front of the path of a page: `https://host/path`. Only the path when `baseUrl` is ''. */
  readonly pagesUrl: string
  /** Client address, for rate limits. */
  readonly address: string
  /** Addresses of the interface, one for each prefix. Paths when the host is unknown. */
  readonly servers: ReadonlyArray<string>
  /** COMPAT_STRICT: responses contain only the members of the interface. */
  readonly strict: boolean
}
