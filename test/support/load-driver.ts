/**
 * A process of its own that creates, feeds and finishes lives without pause and keeps the journal of what the service
 * has acknowledged. Started with fork: arguments URL, USERNAME, PASSWORD; sends journal entries; ends when the service is
 * gone or its parent is.
 */
import { logIn } from './client.ts'
import { silence } from './speech.ts'

/** What was asked or acknowledged; `ask` without its `ack` was unanswered. */
export type JournalEntry =
  | { readonly kind: 'ask' | 'ack'; readonly request: number; readonly what: 'create' | 'finish' | 'socket'; readonly liveId: number | null }
  | { readonly kind: 'unanswered'; readonly request: number; readonly what: 'create' | 'finish' | 'socket' }

const WORKERS = 6

const [url = '', username = '', password = ''] = process.argv.slice(2)
const client = await logIn(url, username, password)
let requests = 0

const write = (entry: JournalEntry): void => {
  process.send?.(entry)
}

/** Journals a request before it leaves and its acknowledgement once it is there; throws when none came. */
const journaled = async <A>(what: 'create' | 'finish' | 'socket', liveId: number | null, act: () => Promise<{ liveId: number; value: A }>): Promise<A> => {
  requests += 1
  const request = requests
  write({ kind: 'ask', request, what, liveId })
  try {
    const done = await act()
    write({ kind: 'ack', request, what, liveId: done.liveId })
    return done.value
  } catch (error) {
    write({ kind: 'unanswered', request, what })
    throw error
  }
}

const work = async (): Promise<void> => {
  for (;;) {
    const live = await journaled('create', null, async () => {
      const made = await client.createLive()
      return { liveId: made.id, value: made }
    })
    const fate = Math.random()
    if (fate < 0.5)
      await journaled('socket', live.id, async () => {
        const sender = await client.socket(live, 'sender')
        sender.send({ type: 'config', min_buffer: 0.2 })
        for (let i = 0; i < 4; i += 1) sender.sendAudio(silence(0.25))
        sender.send({ type: 'FINISH' })
        const { code } = await sender.closed
        if (code !== 1000) throw new Error(`closed with ${code}`)
        return { liveId: live.id, value: undefined }
      })
    else if (fate < 0.8)
      await journaled('finish', live.id, async () => {
        const { status } = await client.put(`/lives/${live.id}/finish`)
        if (status !== 200) throw new Error(`answered ${status}`)
        return { liveId: live.id, value: undefined }
      })
  }
}

process.once('disconnect', () => process.exit(0))
await Promise.allSettled(Array.from({ length: WORKERS }, work))
process.disconnect?.()
