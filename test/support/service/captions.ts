import type { Client, Json, LiveJson, TestSocket } from './client.ts'

/** Returns the transcription frames that a socket received. */
export const transcriptions = (socket: TestSocket): ReadonlyArray<Json> =>
  socket.frames.filter(({ type }) => type === 'transcription')

/** Returns the final transcription frames that a socket received. */
export const finals = (socket: TestSocket): ReadonlyArray<Json> =>
  transcriptions(socket).filter(({ final }) => final === true)

/** Joins the text of frames into one line. */
export const words = (frames: ReadonlyArray<Json>): string =>
  frames.map(({ text }) => String(text).replaceAll('\n', ' ')).join(' ')

/** Sends speech to a session, finishes it and waits for the end. `config`: members of the config message. */
export const speak = async (
  client: Client,
  live: LiveJson,
  config: Json,
  speech: ReadonlyArray<Int16Array>,
): Promise<TestSocket> => {
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config', ...config })
  for (const samples of speech)
    for (let at = 0; at < samples.length; at += 3200) sender.sendAudio(samples.slice(at, at + 3200))
  sender.send({ type: 'FINISH' })
  const { code } = await sender.closed
  if (code !== 1000) throw new Error(`closed with ${code}: ${sender.texts.at(-1)}`)
  return sender
}
