/** One line of `stenolog doctor`: a requirement of the service and its state. */
export interface Check {
  readonly name: string
  /** Null: the user of this command cannot tell. */
  readonly ok: boolean | null
  readonly detail: string
}
