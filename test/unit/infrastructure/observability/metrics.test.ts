import test from 'ava'
import { createLags } from '../../../../application/pipeline/lags.ts'
import { createMetrics } from '../../../../infrastructure/observability/metrics.ts'

test('metrics are collected when they are read', async (t) => {
  let reserved = 100
  const lags = createLags()
  const metrics = createMetrics({
    vramReserved: () => reserved,
    vramTotal: () => 2000,
    compute: { lanes: () => 2, taken: () => 0.75 },
    projectionLags: () => [{ projection: 'lives', seconds: 0.5, error: 'away', failures: 6, rebuilding: true }],
    readYourWritesTimeouts: () => 3,
    translations: () => ({ done: 7, failed: 2, dropped: 1, skipped: 3, waiting: 4, lagSeconds: 0.25 }),
    droppedFinals: () => 5,
    lostSeconds: () => 12.5,
    leftOutWords: () => ({ silence: 4, loop: 0 }),
    lags,
    eventStoreAnswers: () => true,
    leaderChanges: () => 6,
    clockSkews: () => [{ store: 'event_store', seconds: 0 }, { store: 'mongodb', seconds: -10 }],
    sourceIsolation: () => true,
    cluster: {
      members: () => ['up', 'up', 'stopping'],
      workers: () => 1,
      lost: () => 2,
      leases: () => [
        { holder: 'a', isOwn: true },
        { holder: 'b', isOwn: false },
        { holder: 'b', isOwn: false },
        { holder: null, isOwn: false },
      ],
      moved: () => 3,
      unplaced: () => 4,
      links: () => ({ open: 5, failed: 6 }),
    },
  })
  const stop = lags.follow(3, () => 9)
  lags.follow(12, () => 1.25)
  lags.follow(13, () => 6.5)
  await metrics()
  reserved = 1400
  stop()
  for (const seconds of [0.2, 4, 100]) lags.recordPass(seconds)
  const lines = (await metrics()).split('\n').filter((line) => !line.startsWith('#') && line !== '')
  t.deepEqual(
    lines.filter((line) => !line.includes('_bucket')),
    [
      'stenolog_vram_reserved_megabytes 1400',
      'stenolog_vram_total_megabytes 2000',
      'stenolog_engine_lanes 2',
      'stenolog_engine_lanes_taken 0.75',
      'stenolog_live_lag_max_seconds 6.5',
      ...['1"} 2', '2"} 1', '5"} 1', '10"} 0', '30"} 0'].map((count) => `stenolog_lives_behind{longer_than="${count}`),
      'stenolog_audio_to_text_seconds_sum 104.2',
      'stenolog_audio_to_text_seconds_count 3',
      'stenolog_words_left_out_total{cause="silence"} 4',
      'stenolog_words_left_out_total{cause="loop"} 0',
      'stenolog_translations_waiting 4',
      'stenolog_translation_lag_seconds 0.25',
      'stenolog_translations_total{outcome="done"} 7',
      'stenolog_translations_total{outcome="failed"} 2',
      'stenolog_translations_total{outcome="dropped"} 1',
      'stenolog_translations_total{outcome="skipped"} 3',
      'stenolog_projection_lag_seconds{projection="lives"} 0.5',
      'stenolog_projection_failing{projection="lives"} 1',
      'stenolog_projection_failures_total{projection="lives"} 6',
      'stenolog_projection_rebuilding{projection="lives"} 1',
      'stenolog_read_your_writes_timeouts_total 3',
      'stenolog_finals_dropped_total 5',
      'stenolog_source_lost_seconds_total 12.5',
      'stenolog_event_store_answers 1',
      'stenolog_event_store_leader_changes_total 6',
      'stenolog_clock_skew_seconds{store="event_store"} 0',
      'stenolog_clock_skew_seconds{store="mongodb"} -10',
      'stenolog_members{state="up"} 2',
      'stenolog_members{state="draining"} 0',
      'stenolog_members{state="stopping"} 1',
      'stenolog_workers 1',
      'stenolog_members_lost_total 2',
      'stenolog_leases{holder="own"} 1',
      'stenolog_leases{holder="other"} 2',
      'stenolog_leases{holder="nobody"} 1',
      'stenolog_lives_moved 3',
      'stenolog_lives_unplaced 4',
      'stenolog_links_open 5',
      'stenolog_links_failed_total 6',
      'stenolog_source_isolation 1',
    ],
  )
  const labels = lines.flatMap((line) => [...line.matchAll(/[{,](\w+)="/g)].map(([, name]) => name))
  t.deepEqual(
    new Set(labels),
    new Set(['longer_than', 'le', 'cause', 'outcome', 'projection', 'store', 'state', 'holder']),
    'metrics are public, so no label names a user or a session',
  )
  const within = (seconds: string): string | undefined =>
    lines.find((line) => line.startsWith(`stenolog_audio_to_text_seconds_bucket{le="${seconds}"}`))?.split(' ')[1]
  t.deepEqual(['0.25', '3', '4', '60', '+Inf'].map(within), ['1', '1', '2', '2', '3'])
})
