import test from 'ava'
import assert from 'node:assert/strict'
import { openSocket } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { finalTextsOf, finalKeysOf } from '../../support/service/final-frames.ts'
import { audioOf, startSockets } from '../../support/worlds/socket-world.ts'

const TARGETS = [{ model: 'mt-es', from: 'en', to: 'es' }]

for (const [where, keptFinals] of [['memory', 100], ['the store', 2]] as const)
  test(`a resuming listener gets finals that the store refused from memory, others from ${where}`, async (t) => {
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
    const dropped = logger.lines
      .filter(({ fields }) => fields['segment'] !== undefined)
      .map(({ fields }) => `${String(fields['segment'])}${String(fields['language'])}`)
    t.deepEqual(dropped.toSorted(), ['2en', '2es', '4es', '5en', '5es', '8en', '8es'])
    t.false(JSON.stringify(logger.lines).includes('secret'))

    const past = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((segment) => [`${segment}en`, `${segment}es`])
    for (const [query, expected] of [
      ['&after=0', past],
      ['&after=1', past.slice(1)],
      ['&after=4', past.slice(7)],
      ['&after=6', past.slice(11)],
    ] as const) {
      const resumed = await openSocket(`${fixture.origin}/ws/live?token=${live.listenerToken}${query}`)
      await eventually(() => assert.equal(finalKeysOf(resumed).length, expected.length))
      t.deepEqual(finalKeysOf(resumed), expected, query)
      t.deepEqual(finalTextsOf(resumed), finalTextsOf(unbroken).slice(-expected.length), query)
    }
  })
