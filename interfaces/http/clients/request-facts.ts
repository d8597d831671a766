/** The facts about a request that responses depend on. */
export interface RequestFacts {
  /** Base WebSocket address as this client reaches the service. '' when it is unknown. */
  readonly baseUrl: string
  /** The address in front of the path of a page: `https://host/path`. Only the path when `baseUrl` is ''. */
  readonly pagesUrl: string
  /** Client address, for rate limits. */
  readonly address: string
  /** Addresses of the REST API, one for each prefix. If the host is unknown, they are paths. */
  readonly servers: ReadonlyArray<string>
  /** COMPAT_STRICT: if true, responses contain only the members of the interface 0.6.2. */
  readonly strict: boolean
}
