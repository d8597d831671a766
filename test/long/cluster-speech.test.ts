import test from 'ava'
import { createClient } from '../support/client.ts'
import type { LiveJson, TestSocket } from '../support/client.ts'
import { speakerAt } from '../support/cluster/numbered-session.ts'
import { startSplit } from '../support/cluster/split.ts'
import { eventually } from '../support/eventually.ts'
import { sampleSentences, silence } from '../support/speech.ts'

const [SESSIONS, LISTENERS, SPOKEN] = [20, 10, 8]
/** Samples: 100 ms. */
const FRAME = 1600
const PAUSE = 2

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z']+/g, ' ').trim()

const saidOf = ({ frames }: TestSocket): ReadonlyArray<string> =>
  frames.filter(({ type, final }) => type === 'transcription' && final === true).map(({ text }) => String(text))

/** Says the samples in real time, then FINISH; resolves to the close code. */
const say = async (socket: TestSocket, samples: Int16Array): Promise<number> => {
  socket.send({ type: 'config' })
  await socket.frame(({ status }) => status === 'started')
  const begun = performance.now()
  let at = 0
  const ticking = setInterval(() => {
    const due = (performance.now() - begun) * 16
    for (; at < samples.length && at < due; at += FRAME) socket.sendAudio(samples.slice(at, at + FRAME))
    if (at < samples.length) return
    clearInterval(ticking)
    socket.send({ type: 'FINISH' })
  }, 100)
  const { code } = await socket.over
  clearInterval(ticking)
  return code
}

test('the model that ships hears twenty sessions of two workers, of which one is killed: every sentence is told once, to everybody', async (t) => {
  t.timeout(10 * 60_000)
  const { apis: [one, two], workerOf } = await startSplit(t, {}, { isScripted: false })
  const speaker = await speakerAt(one.url())
  const there = createClient(two.url(), speaker.token)
  const sentences = (await sampleSentences()).slice(0, SPOKEN)
  const audio = Int16Array.from(sentences.flatMap(({ samples }) => [...samples, ...silence(PAUSE)]))
  const expected = plain(sentences.map(({ text }) => text).join(' '))
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, async (_, n) => {
    const live: LiveJson = await speaker.createLive()
    const listeners = await Promise.all(Array.from({ length: LISTENERS }, (__, i) => (i % 2 === 0 ? speaker : there).socket(live, 'listener')))
    return { live, listeners, over: say(await (n % 2 === 0 ? there : speaker).socket(live, 'sender'), audio) }
  }))
  const [first] = sessions
  if (first === undefined) throw new Error('no session')
  await eventually(() => {
    if (sessions.some(({ listeners: [listener] }) => listener === undefined || saidOf(listener).length < 2)) throw new Error('not all have been told two sentences')
  })
  const victim = await workerOf(first.live.id)
  const moved = (await Promise.all(sessions.map(({ live }) => workerOf(live.id)))).filter((worker) => worker === victim).length
  await victim.kill()
  for (const { live, listeners, over } of sessions) {
    t.is(await over, 1000, `live ${live.id}`)
    for (const listener of listeners) {
      await listener.over
      t.is(plain(saidOf(listener).join(' ')), expected, `live ${live.id}`)
    }
  }
  t.log(`${SESSIONS} sessions with ${LISTENERS} listeners each, ${moved} of them at the worker that was killed`)
})
