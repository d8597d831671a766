import { parseArgs } from 'node:util'
import type { StoredEvent } from '../../application/ports/event-store.ts'
import type { Keyring } from '../../application/ports/keyring.ts'
import { liveStream } from '../../domain/live/events.ts'
import { segmentsStream } from '../../domain/transcript/events.ts'
import { clearData, readAround } from './live-events.ts'
import { liveIdOf, toolSettings, withData } from './tool-data.ts'

export const EXPORT_HELP = `stenolog export LIVE

Everything that is kept of a live, in clear, as one JSON object: {live, events, segments, lost}. Its tokens are left out.
segments: the final lines and their translations; none once the text was forgotten (a minute after the end, without
retention). lost: what cannot be read because it is not what was written; all else is exported. Reads the log alone,
beside a running service or without one.`

const entries = async (keyring: Pick<Keyring, 'open'>, events: ReadonlyArray<StoredEvent>) => {
  const all: Array<Readonly<Record<string, unknown>>> = []
  for (const event of events) {
    const { revision, type, metadata } = event
    all.push({ revision, type, recordedAt: metadata.recordedAt, actor: metadata.actor, data: await clearData(keyring, event) })
  }
  return all
}

/** Prints it; resolves to the exit code: 1 when there is no such live or some of it cannot be read. */
export const exportLive = async (args: ReadonlyArray<string>): Promise<number> => {
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: { json: { type: 'boolean' } } })
  const liveId = liveIdOf('export', positionals)
  return withData(toolSettings(), async ({ store, keyring }) => {
    const life = await readAround(store, liveStream(liveId))
    const transcript = await readAround(store, segmentsStream(liveId))
    const lost = [...life.lost, ...transcript.lost]
    if (life.events.length === 0 && lost.length === 0) throw new Error(`there is no live ${liveId}`)
    const events = await entries(keyring, life.events)
    const segments = (await entries(keyring, transcript.events)).map(({ data }) => data)
    console.log(JSON.stringify({ live: liveId, events, segments, lost }, null, 2))
    for (const { stream, revision, reason } of lost) console.error(`revision ${revision} of ${stream} cannot be read: ${reason}`)
    return lost.length === 0 ? 0 : 1
  })
}
