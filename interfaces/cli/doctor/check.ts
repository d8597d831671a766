/** One line of `stenolog doctor`: a requirement of the service and its state. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}
