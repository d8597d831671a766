import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { scriptedAudio } from '../../support/doubles/scripted/script.ts'
import { asText, CONFIG, FINISH, framesOf, numberedWords, textOf } from '../../unit/relay/numbered-words.ts'
import { createSenderWorld } from './sender-world.ts'

export interface Schedule {
  readonly random: () => number
  readonly words: number
  /** Of links, placements, workers and the store. */
  readonly troubles: number
  /** How many times faster than sound the client sends. */
  readonly speed: number
}

const STEP_MS = 100

/** One sender and one raw live among three workers that are cut off, killed and relieved at random moments. */
export const runSenderSchedule = async ({ random, words: count, troubles, speed }: Schedule) => {
  const words = numberedWords(count, 3 + Math.floor(random() * 6))
  const world = createSenderWorld({ words })
  const names = ['a', 'b', 'c']
  for (const name of names) world.createWorker(name)
  world.join()
  world.place('a')
  const client = world.createApi('api').connect()
  await world.pass(500)
  await client.coming
  client.send(CONFIG)
  const samples = Math.round(SAMPLE_RATE * (0.02 + random() * 0.2))
  const frames = framesOf(scriptedAudio(words, 1), samples)
  const perStep = (speed * STEP_MS * SAMPLE_RATE) / 1000 / samples
  const steps = Math.ceil(frames.length / perStep)
  let [sent, isFinished, done] = [0, false, 0]
  const happened: string[] = []

  const elsewhere = (): string => {
    const others = names.filter((name) => name !== world.placedOn())
    return others[Math.floor(random() * others.length)] ?? 'a'
  }

  const trouble = (): void => {
    const at = world.placedOn() ?? 'a'
    const chance = random()
    done += 1
    happened.push(`${done}: ${chance.toFixed(2)} at ${sent}`)
    if (chance < 0.25) return world.network.breakLinks('api', at)
    if (chance < 0.5) return world.place(elsewhere())
    if (chance < 0.75) {
      // It writes on until its fence stands, as a worker that was cut off does.
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
    world.store.isAway = true
    world.timers.after(random() * 4000, () => { world.store.isAway = false })
  }

  for (let step = 0; step < 20 * steps + 600 && !client.isGone(); step += 1) {
    const due = Math.min(frames.length, Math.floor((step + 1) * perStep))
    for (; sent < due; sent += 1) {
      const frame = frames[sent] ?? new Uint8Array()
      client.send(random() < 0.2 ? asText(frame) : frame)
    }
    if (sent === frames.length && !isFinished) {
      isFinished = true
      client.send(FINISH)
    }
    // Some when all was sent: FINISH is lost with a worker as well.
    if (done < troubles && random() < troubles / steps) trouble()
    await world.pass(STEP_MS)
  }
  await world.pass(2000)
  const outcome = {
    log: textOf(world.log),
    told: client.finals.join(' '),
    spoken: textOf(words),
    ending: client.ending(),
    happened,
    received: client.received,
    times: world.log.map(({ start, end }) => [start, end] as const),
    terms: world.store.fence,
    numbers: world.log.map(({ segment }) => segment),
    logger: world.logger,
  }
  await world.close()
  return outcome
}
