import test from 'ava'
import { chanceOf, createRandom } from '../../support/tools/seeded.ts'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { scriptedAudio } from '../../support/doubles/scripted/script.ts'
import {
  asText, CONFIG, FINISH, framesOf, numberedWords, textOf,
} from '../../unit/interfaces/ws/relay/numbered-words.ts'
import { createSenderWorld } from './sender-world.ts'

interface Schedule {
  readonly random: () => number
  readonly words: number
  /** The number of failures of links, placements, workers and the store. */
  readonly troubles: number
  /** Sending speed as a multiple of real time. */
  readonly speed: number
}

const STEP_MS = 100

/** Runs one sender and one raw session on three workers that are disconnected, killed and replaced at random. */
const runSenderSchedule = async ({ random, words: count, troubles, speed }: Schedule) => {
  const words = numberedWords(count, 3 + Math.floor(random() * 6))
  const world = createSenderWorld({ words })
  const names = ['a', 'b', 'c']
  for (const name of names) world.createWorker(name)
  world.join()
  world.place('a')
  const client = world.createApi('api').connect()
  await world.pass(500)
  await client.joining
  client.send(CONFIG)
  const samples = Math.round(SAMPLE_RATE * (0.02 + random() * 0.2))
  const frames = framesOf(scriptedAudio(words, 1), samples)
  const framesPerStep = (speed * STEP_MS * SAMPLE_RATE) / 1000 / samples
  const steps = Math.ceil(frames.length / framesPerStep)
  let [sent, isFinished, failures] = [0, false, 0]
  const troubleLog: Array<string> = []

  const elsewhere = (): string => {
    const others = names.filter((name) => name !== world.placedOn())
    return others[Math.floor(random() * others.length)] ?? 'a'
  }

  const trouble = (): void => {
    const at = world.placedOn() ?? 'a'
    const chance = random()
    failures += 1
    troubleLog.push(`${failures}: ${chance.toFixed(2)} at ${sent}`)
    if (chance < 0.25) return world.network.breakLinks('api', at)
    if (chance < 0.5) return world.place(elsewhere())
    if (chance < 0.75) {
      // To the others the worker is dead, but it still writes until the log refuses its term, like a disconnected one.
      world.network.kill(at)
      world.place(elsewhere())
      world.createWorker(at)
      return world.join()
    }
    if (chance < 0.9) {
      world.network.cut('api', at)
      world.timers.after(500 + random() * 6000, () => world.network.mend('api', at))
      return
    }
    world.store.isUnavailable = true
    world.timers.after(random() * 4000, () => { world.store.isUnavailable = false })
  }

  for (let step = 0; step < 20 * steps + 600 && !client.isGone(); step += 1) {
    const due = Math.min(frames.length, Math.floor((step + 1) * framesPerStep))
    for (; sent < due; sent += 1) {
      const frame = frames[sent] ?? new Uint8Array()
      client.send(random() < 0.2 ? asText(frame) : frame)
    }
    if (sent === frames.length && !isFinished) {
      isFinished = true
      client.send(FINISH)
    }
    // Failures also occur after the last frame, so FINISH can be lost with a worker.
    if (failures < troubles && random() < troubles / steps) trouble()
    await world.pass(STEP_MS)
  }
  await world.pass(2000)
  const outcome = {
    log: textOf(world.log),
    received: client.finals.join(' '),
    spoken: textOf(words),
    ending: client.ending(),
    troubles: troubleLog,
    frames: client.received,
    times: world.log.map(({ start, end }) => [start, end] as const),
    terms: world.store.fence,
    numbers: world.log.map(({ segment }) => segment),
    logger: world.logger,
  }
  await world.close()
  return outcome
}

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
