import { type EventStore, type Position } from '../../../application/ports/event-store.ts'
import { rightOf } from '../tools/right.ts'
import { after } from '../events/sample-events.ts'
import type { EventStoreServer } from '../stores/eventstoredb-server/start.ts'
import { eventually } from '../tools/eventually.ts'
import { envelopeOf, sealedLive } from '../events/stored-events.ts'
import { createTestEnvironment } from '../doubles/environment.ts'

export const CHUNK = 4 * 1024 * 1024
export const environment = createTestEnvironment()
export const neverAborted = new AbortController().signal
const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: after(0) }

interface Plain {
  readonly type: string
  readonly data: object
}

const appendTo = async (store: EventStore, stream: string, events: ReadonlyArray<Plain>): Promise<Position> => {
  const newEvents = events.map(({ type, data }) => ({ id: environment.newId(), type, data: { ...data }, metadata }))
  return (await rightOf(store.append(stream, 'any', newEvents))).position
}

/**
 * Writes random events of the service. Events of tokens and sessions stay, streams of token uses keep one event, and
 * text is deleted. So a scavenge removes events all over the log. It is EventStoreDB's removal of deleted events.
 */
export const createWriter = (store: EventStore, random: () => number) => {
  let [lives, tokens, texts, uses] = [0, 0, 0, 0]
  const user = () => ({ userId: 1, at: after((uses += 1)) })
  const use = (tokenId: number): Promise<Position> =>
    appendTo(store, `token-use-${tokenId}`, [{ type: 'ApiTokenUsed', data: { tokenId, ...user() } }])
  const issue = async (): Promise<Position> => {
    const tokenId = (tokens += 1)
    await rightOf(store.setMetadata(`token-use-${tokenId}`, { maxCount: 1 }))
    const data = { tokenId, ...user(), name: envelopeOf('ci'), prefix: 'lt_abc', secretHash: 'h', expiresAt: null }
    return await appendTo(store, `api-token-${tokenId}`, [{ type: 'ApiTokenIssued', data }])
  }
  const rename = (tokenId: number): Promise<Position> =>
    appendTo(store, `api-token-${tokenId}`, [
      { type: 'ApiTokenRenamed', data: { tokenId, ...user(), name: envelopeOf(`name ${uses}`) } },
    ])
  const create = (): Promise<Position> => {
    const liveId = (lives += 1)
    const finished = { type: 'LiveFinished', data: { liveId, ...user(), reason: 'sender_closed' } }
    return appendTo(store, `live-${liveId}`, [sealedLive({ liveId, ...user() }), ...(random() < 0.5 ? [finished] : [])])
  }
  const speak = async (kilobytes: number): Promise<void> => {
    const stream = `segments-${(texts += 1)}`
    const text = { type: 'Text', data: { text: 'x'.repeat(50_000) } }
    await appendTo(store, stream, Array.from({ length: kilobytes / 50 }, () => text))
    await rightOf(store.deleteStream(stream))
  }
  return {
    issue,
    use,
    rename,
    lives: () => lives,
    /** Makes one random write. */
    write: async (): Promise<void> => {
      const chance = random()
      if (chance < 0.05 || tokens === 0) await issue()
      else if (chance < 0.1) await rename(tokens)
      else if (chance < 0.2) await create()
      else if (chance < 0.25) await speak(100)
      else await use(1 + Math.floor(random() * Math.min(tokens, 3)))
    },
    /** Fills the current chunk, so a scavenge includes all earlier events. Ends with a session. */
    fill: async (): Promise<Position> => {
      for (let bytes = 0; bytes < CHUNK + 1_000_000; bytes += 750_000) await speak(750)
      return await create()
    },
  }
}

/** Scavenges the first node of a real server and waits for the end. */
export const scavenge = async ({ nodes: [node] }: EventStoreServer): Promise<void> => {
  await node?.ask('POST', '/admin/scavenge?threshold=-1')
  await eventually(async () => {
    const { text } = (await node?.ask('GET', '/admin/scavenge/current')) ?? { text: 'no node' }
    if (text !== 'ScavengeId: , ScavengeLink: ') throw new Error(`the scavenge still runs: ${text}`)
  }, { timeoutMs: 120_000 })
}
