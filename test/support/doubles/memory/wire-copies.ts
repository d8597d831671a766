import type { FromWorker, ToWorker } from '../../../../application/ports/live-links.ts'

export type Message = ToWorker | FromWorker

/** A copy that went through JSON, as every message on the wire does. */
export const copyOf = <A>(value: A): A => JSON.parse(JSON.stringify(value)) as A

/** The message as it arrives, and its size in bytes. */
export const transmitted = (message: Message): readonly [copy: Message, bytes: number] => {
  if (message.kind !== 'binary') return [copyOf(message), JSON.stringify(message).length]
  return [{ ...message, bytes: Buffer.from(message.bytes) }, message.bytes.byteLength]
}
