import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { ResumePoint } from '../../../../application/lives/queries/resume-point.ts'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { forgetText } from '../../../../application/lives/policies/forget-text.ts'
import { getTranscript } from '../../../../application/lives/queries/get-transcript.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { right } from '../../../support/tools/right.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { callerOf, createWriteSide, requestOf } from '../../../support/worlds/write-side.ts'
import { plainMembers } from '../../../support/events/sealed-texts.ts'

const owner = callerOf(1, { permissions: ['user_retention'] })
const NOT_FOUND = E.left({ _tag: 'LiveNotFound' } as const)
const NO_TRANSCRIPT = E.left({ _tag: 'TranscriptNotFound' } as const)

const segmentOf = (segment: number, language: string) => ({
  liveId: 1, segment, start: segment, end: segment + 1, text: `${segment} in ${language}`,
  kind: language === 'en' ? ('transcription' as const) : ('translation' as const), language,
})

const start = async (options: {
  readonly retention: boolean
  readonly retentionMax?: number
  readonly now?: () => string
  readonly storeNow?: () => number
}) => {
  const { now, storeNow, retention, retentionMax = 0 } = options
  const environment = now === undefined ? {} : { environment: { ...createTestEnvironment(), now } }
  const side = await createWriteSide({ ...environment, ...(storeNow && { storeNow }) })
  right(await side.createLive(owner, requestOf({ retention })))
  return { ...side, getTranscript: getTranscript({ ...side.deps, retentionMax }) }
}

test('the transcript is ordered by segment, and a transcription precedes its translations', async (t) => {
  const { lifecycle, getTranscript } = await start({ retention: true })
  t.deepEqual(right(await getTranscript(owner, 1)), [])
  for (const [segment, language] of [
    [1, 'en'],
    [2, 'en'],
    [1, 'fr'],
    [1, 'es'],
    [2, 'es'],
  ] as const)
    right(await lifecycle.recordSegment(segmentOf(segment, language)))
  const expected = [segmentOf(1, 'en'), segmentOf(1, 'es'), segmentOf(1, 'fr'), segmentOf(2, 'en'), segmentOf(2, 'es')]
  t.deepEqual(right(await getTranscript(owner, 1)), expected, 'while the session runs')
  right(await lifecycle.endLive(1, { status: 'finished', reason: 'finish_message' })())
  t.deepEqual(right(await getTranscript(owner, 1)), expected)
})

test('words are encrypted with the text, returned with it and erased with it', async (t) => {
  const { lifecycle, getTranscript, deps } = await start({ retention: true })
  const words = [{ start: 1, end: 2, text: 'secretly', confidence: 0.5 }]
  right(await lifecycle.recordSegment({ ...segmentOf(1, 'en'), text: 'secretly', words }))
  const [stored] = right(await deps.store.read('segments-1', {})).map(({ data }) => data as { words: object })
  t.deepEqual(Object.keys(stored?.words ?? {}).toSorted(), ['c', 'iv', 'k', 'm'])
  t.deepEqual(right(await getTranscript(owner, 1))[0]?.words, words)
  const missed = right(await lifecycle.storedFinals(1, { kind: 'last', count: 1 }))
  t.deepEqual(right(await missed.next())?.[0]?.words, words, 'returning listeners get the words too')
})

test('a long transcript is complete', async (t) => {
  const { lifecycle, getTranscript } = await start({ retention: true })
  for (let segment = 1; segment <= 1001; segment++) right(await lifecycle.recordSegment(segmentOf(segment, 'en')))
  t.deepEqual(
    right(await getTranscript(owner, 1)).map(({ segment }) => segment),
    Array.from({ length: 1001 }, (_, i) => i + 1),
  )
})

test('there is no transcript without retention, for other users, or after a deletion', async (t) => {
  const { lifecycle, getTranscript, createLive, deleteLive } = await start({ retention: false })
  right(await lifecycle.recordSegment(segmentOf(1, 'en')))
  t.deepEqual(await getTranscript(owner, 1), NO_TRANSCRIPT, 'even while the session runs')
  t.deepEqual(await getTranscript(callerOf(2), 1), NOT_FOUND)
  t.deepEqual(await getTranscript(owner, 3), NOT_FOUND)
  right(await createLive(owner, requestOf({ retention: true })))
  right(await deleteLive(owner, 2))
  t.deepEqual(await getTranscript(owner, 2), NOT_FOUND)
})

test('after RETENTION_MAX a retained text is no longer returned, and is erased', async (t) => {
  let clock = Date.parse('2026-11-21T09:30:00Z')
  const now = (): string => new Date(clock).toISOString().replace('Z', '000+00:00')
  const { lifecycle, getTranscript, deps, store, documents } = await start({
    retention: true,
    retentionMax: 3_600_000,
    now,
  })
  right(await lifecycle.recordSegment(segmentOf(1, 'en')))
  clock += 7_200_000
  t.is(right(await getTranscript(owner, 1)).length, 1, 'the limit counts from the end')
  right(await lifecycle.endLive(1, { status: 'finished', reason: 'finish_message' })())
  clock += 3_599_999
  t.is(right(await getTranscript(owner, 1)).length, 1)
  clock += 1
  t.deepEqual(await getTranscript(owner, 1), NO_TRANSCRIPT)
  t.is(right(await store.read('segments-1')).length, 1)
  const forgetting = forgetText({
    ...deps,
    documents,
    logger: createRecordingLogger(),
    timers: immediateTimers,
    retentionMax: 3_600_000,
  })
  await eventually(async () => {
    if (right(await store.read('segments-1')).length > 0) throw new Error('not erased yet')
  })
  await forgetting.stop()
  t.like(await deps.keyring.seal('text-1', plainMembers(['again'])), { left: { _tag: 'KeyErased' } })
})

test('stored finals are returned in pages within a minute after the end, and not at all later', async (t) => {
  let clock = Date.parse('2026-11-21T09:30:00Z')
  const now = (): string => new Date(clock).toISOString().replace('Z', '000+00:00')
  const { lifecycle, deleteLive } = await start({ retention: true, now })
  const finalsAfter = async (point: ResumePoint): Promise<ReadonlyArray<string>> => {
    const { next } = right(await lifecycle.storedFinals(1, point))
    const frames: Array<string> = []
    for (let page = right(await next()); page !== null; page = right(await next()))
      frames.push(...page.map(({ text, language }) => `${text} ${language}`))
    return frames
  }
  t.deepEqual(await finalsAfter({ kind: 'after', segment: 0 }), [])
  const words = 'one two three four'
  for (let segment = 1; segment <= 300; segment++) {
    right(await lifecycle.recordSegment({ ...segmentOf(segment, 'en'), text: words, maxChars: 9 }))
    right(await lifecycle.recordSegment({ ...segmentOf(segment, 'es'), text: words }))
  }
  const [narrow, wide] = ['one two\nthree\nfour en', 'one two three four es']
  t.deepEqual(
    await finalsAfter({ kind: 'after', segment: 299 }),
    [wide, narrow, wide],
    'captions have the stored width, or without a stored width the width of the session',
  )
  t.deepEqual(await finalsAfter({ kind: 'last', count: 2 }), [narrow, wide, narrow, wide])
  t.is((await finalsAfter({ kind: 'after', segment: 0 })).length, 600)
  t.is((await finalsAfter({ kind: 'last', count: 100 })).length, 200)
  right(await lifecycle.endLive(1, { status: 'finished', reason: 'finish_message' })())
  clock += 57_000
  t.is((await finalsAfter({ kind: 'after', segment: 0 })).length, 600)
  clock += 1000
  t.deepEqual(await finalsAfter({ kind: 'after', segment: 0 }), [], 'retained for the owner, but not for listeners')
  clock -= 1000
  right(await deleteLive(owner, 1))
  t.deepEqual(await finalsAfter({ kind: 'after', segment: 0 }), [])
})

test('after the last stored final the last page is read again, with the finals stored since then', async (t) => {
  const { lifecycle } = await start({ retention: true })
  right(await lifecycle.recordSegment(segmentOf(1, 'en')))
  const { next } = right(await lifecycle.storedFinals(1, { kind: 'after', segment: 0 }))
  const segments = async () => right(await next())?.map(({ segment }) => segment) ?? null
  t.deepEqual([await segments(), await segments()], [[1], null])
  right(await lifecycle.recordSegment(segmentOf(2, 'en')))
  t.deepEqual([await segments(), await segments()], [[1, 2], null])
})

test('finals from the log carry their term', async (t) => {
  const { lifecycle } = await start({ retention: true })
  right(await lifecycle.recordSegment(segmentOf(1, 'en')))
  right(await lifecycle.recordSegment({ ...segmentOf(2, 'en'), term: 3 }))
  const { next } = right(await lifecycle.storedFinals(1, { kind: 'after', segment: 0 }))
  t.deepEqual(right(await next())?.map(({ term }) => term), [1, 3], 'finals of old versions have term 1')
})

test('many listeners that read the past of a session cost little more than one listener', async (t) => {
  const inner = createMemoryEventStore()
  let events = 0
  const store: EventStore = {
    ...inner,
    read: async (stream, options) => {
      const read = await inner.read(stream, options)
      if (stream === 'segments-1' && E.isRight(read)) events += read.right.length
      return read
    },
  }
  const side = await createWriteSide({ store })
  right(await side.createLive(owner, requestOf({})))
  const count = 1500
  for (let segment = 1; segment <= count; segment += 1)
    right(await side.lifecycle.recordSegment(segmentOf(segment, 'en')))
  const finalsAfter = async (after: number): Promise<ReadonlyArray<number>> => {
    const { next } = right(await side.lifecycle.storedFinals(1, { kind: 'after', segment: after }))
    const segments: Array<number> = []
    for (let page = right(await next()); page !== null; page = right(await next()))
      segments.push(...page.map(({ segment }) => segment))
    return segments
  }
  events = 0
  const starts = Array.from({ length: 50 }, (_, n) => n * 29)
  const all = await Promise.all(starts.map(finalsAfter))
  t.deepEqual(all, starts.map((after) => Array.from({ length: count - after }, (_, i) => after + 1 + i)))
  // Each listener reads a few events to find its start. All listeners share the reads of the pages.
  t.true(events < 8 * count, `${events} events were read`)
  const before = events
  t.deepEqual(await finalsAfter(count - 1), [count])
  t.true(events - before < count / 2, `${events - before} events for the last final`)
})

test('how long a text is shown counts on the clock of the store, not on a clock that somebody sets', async (t) => {
  let [year, storeClock] = ['2027', 0]
  const { lifecycle, getTranscript } = await start({
    retention: true, retentionMax: 3_600_000,
    now: () => `${year}-11-21T09:30:00.000000+00:00`,
    storeNow: () => storeClock,
  })
  const finals = async (): Promise<number | undefined> => {
    const { next } = right(await lifecycle.storedFinals(1, { kind: 'last', count: 1 }))
    return right(await next())?.length
  }
  right(await lifecycle.recordSegment(segmentOf(1, 'en')))
  right(await lifecycle.endLive(1, { status: 'finished', reason: 'finish_message' })())
  for (const set of ['2026', '2028']) {
    year = set
    t.is(await finals(), 1, `set to ${set}`)
    t.is(right(await getTranscript(owner, 1)).length, 1, `set to ${set}`)
  }
  ;[year, storeClock] = ['2026', 60_000]
  t.is(await finals(), undefined, 'after a minute')
  storeClock = 3_600_000
  t.deepEqual(await getTranscript(owner, 1), NO_TRANSCRIPT)
})
