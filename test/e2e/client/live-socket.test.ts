import test, { type ExecutionContext } from 'ava'
import { ended, NO_CAPTIONS, withFrame, type Captions } from '../../../interfaces/client/captions.ts'
import { openLiveSocket, type SocketState } from '../../../interfaces/client/live-socket.ts'
import { createClient, type LiveJson } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { openHttpProxy } from '../../support/tools/tcp-proxy.ts'
import { startTestService } from '../../support/service/service.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'

const listen = (t: ExecutionContext, url: string, live: LiveJson, token = live.listener_token) => {
  let captions: Captions = NO_CAPTIONS
  const states: Array<SocketState> = []
  const socket = openLiveSocket({
    url: `${url.replace(/^http/, 'ws')}${live.relative_path}`,
    token,
    cursor: () => captions.cursor,
    isReady: () => createClient(url).api.call('getEmbedReadiness').then(({ ready }) => ready, () => false),
    onFrame: (frame) => {
      if (frame.type === 'transcription' || frame.type === 'translation') captions = withFrame(captions, frame)
    },
    onState: (state) => states.push(state),
    wait: () => 20,
  })
  t.teardown(socket.close)
  const until = (condition: () => boolean): Promise<void> =>
    eventually(() => {
      if (!condition()) throw new Error(JSON.stringify([states, captions]))
    })
  return { captions: () => ended(captions), states, until, end: () => states.find(({ name }) => name === 'over') }
}

for (const strict of ['0', '1'])
  test(`a listener receives every message exactly once, with COMPAT_STRICT=${strict}`, async (t) => {
    const service = await startTestService(t, { COMPAT_STRICT: strict })
    const client = await service.user('ada')
    const proxy = await openHttpProxy(service.url())
    t.teardown(proxy.close)
    const live = await client.createLive({ translations: ['es'] })
    const sender = await client.socket(live, 'sender')
    const listener = listen(t, proxy.url, live)
    sender.send({ type: 'config' })
    await sender.frame(({ status }) => status === 'started')
    const [first, second] = await sampleSentences()
    sender.sendAudio(first?.samples ?? silence(0))
    sender.sendAudio(silence(1.5))
    await listener.until(() => listener.captions().lines.length > 0)
    // In strict mode frames have no segment numbers, so a client cannot request the text that it missed. The
    // connection is broken only in the other mode.
    if (strict === '0') {
      proxy.refuse(true)
      proxy.reset()
    }
    sender.sendAudio(second?.samples ?? silence(0))
    sender.sendAudio(silence(1.5))
    if (strict === '0') await sender.frame(({ segment, type }) => segment === 2 && type === 'translation')
    proxy.refuse(false)
    if (strict === '0') await listener.until(() => listener.states.filter(({ name }) => name === 'open').length > 1)
    sender.send({ type: 'FINISH' })
    t.is((await sender.closed).code, 1000)
    await listener.until(() => listener.end() !== undefined)
    t.deepEqual(listener.end(), { name: 'over', end: { reason: 'finished', code: 1000, detail: '' } })
    const sent = (type: string) =>
      sender.frames.filter((frame) => frame['type'] === type && frame['final'] !== false).map(({ text }) => text)
    const { lines } = listener.captions()
    if (strict === '0') t.deepEqual<unknown, unknown>(lines.map(({ text }) => text), sent('transcription'))
    t.is(lines.length, 2)
    t.deepEqual<unknown, unknown>(lines.map(({ translations }) => translations['es']), sent('translation'))
  })

test('a wrong token or a deleted session ends the socket with a named reason', async (t) => {
  const service = await startTestService(t)
  const client = await service.user('ada')
  const live = await client.createLive()
  const stranger = listen(t, service.url(), live, 'not-the-token-of-anybody')
  await stranger.until(() => stranger.end() !== undefined)
  t.like(stranger.end(), { end: { reason: 'refused', code: 0 } })
  const listener = listen(t, service.url(), live)
  await listener.until(() => listener.states.some(({ name }) => name === 'open'))
  await client.api.call('deleteLive', { path: { id: live.id } })
  await listener.until(() => listener.end() !== undefined)
  t.like(listener.end(), { end: { reason: 'token_revoked', code: 4401 } })
})
