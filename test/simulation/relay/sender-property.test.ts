import test from 'ava'
import { chanceOf, createRandom } from '../../support/tools/seeded.ts'
import { runSenderSchedule } from './sender-simulation.ts'

const SCHEDULES = 12

test('through any failures of links and workers each word is stored once and sent once, in order', async (t) => {
  const { random, seed } = chanceOf(t)
  const choose = random('schedules')
  let terms = 0
  for (let n = 0; n < SCHEDULES; n += 1) {
    const speed = [1, 1, 2, 20][Math.floor(choose() * 4)] ?? 1
    const outcome = await runSenderSchedule({
      random: createRandom(`${seed} schedule ${n}`),
      words: 40 + Math.floor(choose() * 40),
      troubles: 1 + Math.floor(choose() * 6),
      speed,
    })
    const description = `schedule ${n} at speed ${speed}: ${outcome.troubles.join(', ')}`
    t.is(outcome.log, outcome.spoken, description)
    t.is(outcome.received, outcome.log, description)
    t.is(outcome.ending, '1000', description)
    t.deepEqual(outcome.numbers, outcome.numbers.map((_, i) => i + 1), description)
    t.true(
      outcome.times.every(([start, end], i) => start <= end && start >= (outcome.times[i - 1]?.[1] ?? 0)),
      description,
    )
    t.is(outcome.frames.filter((frame) => frame.includes('ASR process started')).length, 1, description)
    t.deepEqual(outcome.frames.filter((frame) => frame.includes('error')), [], description)
    terms += outcome.terms
  }
  t.true(terms > SCHEDULES, 'the schedules contain too few takeovers')
})
