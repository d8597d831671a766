import test from 'ava'
import { createClient, type LiveJson, type TestSocket } from '../../support/service/client.ts'
import { speakerAt } from '../../support/cluster/numbered-session.ts'
import { sendAndResume } from '../../support/cluster/resuming-sender.ts'
import { startSplitCluster } from '../../support/cluster/split-cluster.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'

const [SESSIONS, LISTENERS, SENTENCES] = [20, 10, 8]
const PAUSE_SECONDS = 2

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z']+/g, ' ').trim()

const finalTexts = ({ frames }: TestSocket): ReadonlyArray<string> =>
  frames.filter(({ type, final }) => type === 'transcription' && final === true).map(({ text }) => String(text))

test('real speech: after a killed worker every listener has every sentence once', async (t) => {
  t.timeout(10 * 60_000)
  const { apis: [one, two], workerOf } = await startSplitCluster(t, {}, { isScripted: false })
  const speaker = await speakerAt(one.url())
  const there = createClient(two.url(), speaker.token)
  const sentences = (await sampleSentences()).slice(0, SENTENCES)
  const audio = Int16Array.from(sentences.flatMap(({ samples }) => [...samples, ...silence(PAUSE_SECONDS)]))
  const expected = plain(sentences.map(({ text }) => text).join(' '))
  const sessions = await Promise.all(
    Array.from({ length: SESSIONS }, async (_, n) => {
      const live: LiveJson = await speaker.createLive()
      const listeners = await Promise.all(
        Array.from({ length: LISTENERS }, (__, i) => (i % 2 === 0 ? speaker : there).socket(live, 'listener')),
      )
      return { live, listeners, sender: await sendAndResume([n % 2 === 0 ? two.url : one.url], live, audio) }
    }),
  )
  const [first] = sessions
  if (first === undefined) throw new Error('no session')
  await eventually(() => {
    if (sessions.some(({ listeners: [listener] }) => listener === undefined || finalTexts(listener).length < 2))
      throw new Error('a session has fewer than two sentences')
  })
  const victim = await workerOf(first.live.id)
  const moved = (await Promise.all(sessions.map(({ live }) => workerOf(live.id)))).filter(
    (worker) => worker === victim,
  ).length
  await victim.kill()
  for (const { live, listeners, sender } of sessions) {
    t.is(await sender.ended, 1000, `session ${live.id}`)
    for (const listener of listeners) {
      await listener.ended
      t.is(plain(finalTexts(listener).join(' ')), expected, `session ${live.id}`)
    }
  }
  t.log(`${SESSIONS} sessions with ${LISTENERS} listeners each, ${moved} of them on the killed worker`)
})
