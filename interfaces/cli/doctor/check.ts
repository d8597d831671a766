/** A finding of doctor about what the service needs. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}
