import test from 'ava'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import type { TranscriptFrame } from '../../../../domain/transcript/frame.ts'
import { finalKey, createBackwardSearch, type ResumePoint } from '../../../../application/lives/queries/resume-point.ts'
import type { StoredFinals } from '../../../../application/lives/queries/stored-finals.ts'
import { openMissedFinals } from '../../../../application/running/missed-finals.ts'
import { createRecentFinals } from '../../../../application/running/recent-finals.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'
import { right } from '../../../support/tools/right.ts'

const PAGE = 3

/** Frame 2n is a transcription, frame 2n + 1 its translation. */
const frame = (index: number): TranscriptFrame => ({
  ...(index % 2 === 0 ? { kind: 'transcription', language: 'en' } : { kind: 'translation', language: 'es' }),
  segment: Math.floor(index / 2) + 1, final: true, start: 0, end: 1, text: `final ${index}`,
})

/** A session whose memory keeps `kept` finals, and a listener. `between` runs wherever the listener waits. */
const startLive = (kept: number, between: (moment: 'opening' | 'reading' | 'read' | 'sending' | 'end') => void) => {
  const recent = createRecentFinals(createManualTimers(), kept)
  const finals = recent.open(1, true)
  const log: Array<TranscriptFrame> = []
  const received: Array<string> = []
  let count = 0
  let reads = 0
  let sentBefore = 0
  let hasJoined = false
  let unsent: (() => void) | null = null

  const send = (): void => {
    unsent?.()
    unsent = null
  }
  /** Stores one more final and sends it, now or together with the next one. */
  const speak = (isSentLater = false): void => {
    send()
    const final = frame(count)
    count += 1
    const added = finals.add(final)
    log.push(final)
    added.stored()
    unsent = () => {
      added.sent()
      if (hasJoined) received.push(finalKey(final))
    }
    if (!isSentLater) send()
  }
  const storedFinals: StoredFinals = async (_, point) => {
    between('opening')
    // The store chooses the last finals now. Finals sent from now on must arrive as well.
    if (point.kind === 'last') sentBefore = count - (unsent === null ? 0 : 1)
    const search = createBackwardSearch(point)
    log.toReversed().some(search.found)
    const wanted = search.wanted()
    let [page, isAtEnd] = [0, false]
    return E.right({
      wanted,
      next: async () => {
        if (isAtEnd) {
          isAtEnd = false
          return E.right(null)
        }
        between('reading')
        reads += 1
        const read = log.slice(page * PAGE, (page + 1) * PAGE)
        await Promise.resolve()
        between('read')
        if (read.length === PAGE) page += 1
        else isAtEnd = true
        return E.right(read.filter(wanted).map((final) => ({ ...final, term: 1 })))
      },
    })
  }
  /** Reads as a socket does: page by page. Then it takes the rest and joins the bus in one tick, without a gap. */
  const listen = async (point: ResumePoint): Promise<void> => {
    sentBefore = count - (unsent === null ? 0 : 1)
    const missed = right(await openMissedFinals({ recent, storedFinals })(1, point))
    for (;;) {
      const page = right(await missed.next())
      for (const final of page ?? []) received.push(finalKey(final))
      between(page === null ? 'end' : 'sending')
      const rest = page === null ? missed.rest() : null
      if (rest === null) continue
      received.push(...rest.map(finalKey))
      hasJoined = true
      return
    }
  }
  const all = (from = 0): ReadonlyArray<string> =>
    Array.from({ length: count - from }, (_, n) => finalKey(frame(from + n)))
  return { speak, listen, received, all, reads: () => reads, sentBefore: () => sentBefore }
}

const times = (count: number, run: () => void): void => {
  for (let n = 0; n < count; n += 1) run()
}

test('finals that memory drops between the last page and the first sent final are read', async (t) => {
  let remaining = 2
  const live = startLive(4, (moment) => {
    if (moment !== 'end' || remaining === 0) return
    remaining -= 1
    times(10, () => live.speak())
  })
  times(7, () => live.speak())
  await live.listen({ kind: 'after', segment: 0 })
  t.deepEqual(live.received, live.all())
})

test('a final stored before its page was read, then sent and dropped, is not lost', async (t) => {
  let sent = 0
  const live = startLive(1, (moment) => {
    if (moment !== 'sending') return
    sent += 1
    if (sent === 2) times(3, () => live.speak())
  })
  times(5, () => live.speak())
  live.speak(true)
  await live.listen({ kind: 'after', segment: 0 })
  t.deepEqual(live.received, live.all())
})

test('finals that memory drops before the listener joins are not lost', async (t) => {
  for (const during of [1, 4, 20]) {
    let hasSpoken = false
    const live = startLive(4, () => {
      if (hasSpoken) return
      hasSpoken = true
      times(during, () => live.speak())
    })
    times(8, () => live.speak())
    await live.listen({ kind: 'last', count: 1 })
    t.deepEqual(live.received, live.all(6), `${during} finals meanwhile`)
  }
})

test('a replay of a silent session returns the finals sent since the request', async (t) => {
  const live = startLive(4, (moment) => {
    if (moment === 'end' && live.all().length < 3) live.speak()
  })
  await live.listen({ kind: 'last', count: 5 })
  live.speak()
  t.deepEqual(live.received, live.all())
  t.true(live.received.length > 1)
})

test('nothing is read twice while memory drops no final that the listener needs', async (t) => {
  const live = startLive(4, (moment) => {
    if (moment === 'sending' && live.all().length < 12) live.speak()
  })
  times(7, () => live.speak())
  await live.listen({ kind: 'after', segment: 0 })
  t.deepEqual(live.received, live.all())
  t.is(live.reads(), 4, 'three full pages and one with the finals since then')
})

test('a listener that catches up receives each final once and in order', async (t) => {
  const anyPoint = fc.oneof(
    fc.record({ kind: fc.constant('after' as const), segment: fc.nat({ max: 6 }) }),
    fc.record({ kind: fc.constant('last' as const), count: fc.integer({ min: 1, max: 4 }) }),
  )
  const silence = fc.constant<Array<boolean>>([])
  const anySpeech = fc.array(fc.oneof(silence, fc.array(fc.boolean(), { maxLength: 8 })), { maxLength: 20 })
  const [anyKept, anyPast] = [fc.integer({ min: 1, max: 6 }), fc.array(fc.boolean(), { maxLength: 16 })]
  await fc.assert(
    fc.asyncProperty(anyKept, anyPast, anyPoint, anySpeech, async (kept, before, point, speech) => {
      const remaining = [...speech]
      const live = startLive(kept, () => remaining.shift()?.forEach((isSentLater) => live.speak(isSentLater)))
      before.forEach((isSentLater) => live.speak(isSentLater))
      await live.listen(point)
      times(2, () => live.speak())
      const all = live.all()
      t.deepEqual(live.received, all.slice(all.length - live.received.length))
      const due =
        point.kind === 'last'
          ? all.slice(live.sentBefore())
          : all.filter((key) => Number.parseInt(key, 10) > point.segment || key === `${point.segment} translation es`)
      t.deepEqual(live.received.slice(live.received.length - due.length), due)
    }),
    { numRuns: 1000 },
  )
})
