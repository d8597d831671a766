import test from 'ava'
import assert from 'node:assert/strict'
import { openSocket } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { finalTextsOf, finalKeysOf } from '../../support/service/final-frames.ts'
import { audioOf, startSockets } from '../../support/worlds/socket-world.ts'

const TARGETS = [{ model: 'mt-es', from: 'en', to: 'es' }]

for (const [where, keptFinals] of [
  ['memory', 100],
  ['the store', 2],
] as const)
  test(`a resuming listener gets refused finals from memory in their order, the others from ${where}`, async (t) => {
    const fixture = await startSockets(t, {}, {}, { keptFinals })
    const { lifecycle, pipelines, sessions, logger } = fixture
    const live = lifecycle.add({ translations: TARGETS })
    lifecycle.refuseSegments(
      ({ segment, kind }) => [2, 8].includes(segment) || (segment === 4 && kind === 'translation') || segment === 5,
    )
    const sending = await fixture.configured(live)
    sending.sendAudio(audioOf(0.1))
    const unbroken = await fixture.listener(live)
    for (let segment = 1; segment <= 8; segment += 1) await pipelines.of(live.id).final(segment, `secret ${segment}`)
    await eventually(() => assert.equal(finalKeysOf(unbroken).length, 16))
    t.is(sessions.droppedFinals(), 7)
    const told = logger.lines
      .filter(({ fields }) => fields['segment'] !== undefined)
      .map(({ fields }) => `${String(fields['segment'])}${String(fields['language'])}`)
    t.deepEqual(told.toSorted(), ['2en', '2es', '4es', '5en', '5es', '8en', '8es'])
    t.false(JSON.stringify(logger.lines).includes('secret'))

    const past = [
      '1en',
      '1es',
      '2en',
      '2es',
      '3en',
      '3es',
      '4en',
      '4es',
      '5en',
      '5es',
      '6en',
      '6es',
      '7en',
      '7es',
      '8en',
      '8es',
    ]
    for (const [query, missed] of [
      ['&after=0', past],
      ['&after=1', past.slice(1)],
      ['&after=4', past.slice(7)],
      ['&after=6', past.slice(11)],
    ] as const) {
      const back = await openSocket(`${fixture.origin}/ws/live?token=${live.listenerToken}${query}`)
      await eventually(() => assert.equal(finalKeysOf(back).length, missed.length))
      t.deepEqual(finalKeysOf(back), missed, query)
      t.deepEqual(finalTextsOf(back), finalTextsOf(unbroken).slice(-missed.length), query)
    }
  })
