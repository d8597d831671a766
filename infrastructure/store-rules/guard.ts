/** A mark of a stored document or checkpoint: the service ignores every change before its position. */
export interface Guard {
  /** The document, or the checkpoint. */
  readonly where: string
  readonly position: string
  /** Fencing token of the last writer. A writer with a lower token is refused. 0 for a document. */
  readonly token: number
}
