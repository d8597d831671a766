import { readFileSync, readdirSync } from 'node:fs'
import test from 'ava'
import type { LiveJson, Single } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { startTestService } from '../../support/service/service.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'

/** Returns the id of the child process of `pid` that runs the speech engine (Linux). */
const enginePidOf = (pid: number): number => {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean),
  )
  const engine = children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('engine-process'))
  if (engine === undefined) throw new Error('no engine process')
  return Number(engine)
}

const onLinux = process.platform === 'linux' ? test : test.skip

onLinux('after a crash of the engine process the service stays up, and the session continues', async (t) => {
  const service = await startTestService(t)
  const client = await service.user('speaker')
  const [first, second, third] = await sampleSentences()
  const live = await client.createLive()
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  await sender.frame((frame) => frame['status'] === 'started')
  sender.sendAudio(first?.samples ?? silence(1))
  sender.sendAudio(silence(1.5))
  await sender.frame((frame) => frame['final'] === true)

  const enginePid = enginePidOf(service.pid())
  process.kill(enginePid, 'SIGSEGV')
  sender.sendAudio(second?.samples ?? silence(1))
  t.is((await client.get('/health/live')).status, 200)
  sender.sendAudio(silence(1.5))
  const secondFinal = await sender.frame((frame) => frame['final'] === true && frame['segment'] === 2)
  t.true(String(secondFinal['text']).length > 5)
  await eventually(() => {
    if (enginePidOf(service.pid()) === enginePid) throw new Error('the old engine process still runs')
  })
  process.kill(enginePidOf(service.pid()), 'SIGKILL')
  sender.sendAudio(third?.samples ?? silence(1))
  sender.sendAudio(silence(1.5))
  t.true(String((await sender.frame((frame) => frame['final'] === true && frame['segment'] === 3))['text']).length > 5)
  t.is((await client.get<Single<LiveJson>>(`/lives/${live.id}`)).body.data.status, 'active')
  sender.send({ type: '__FINISH__' })
  t.is((await sender.closed).code, 1000)
})

onLinux('kill -9 of the service also ends its engine process', async (t) => {
  const service = await startTestService(t)
  const enginePid = await eventually(() => enginePidOf(service.pid()))
  await service.kill()
  await eventually(() => {
    try {
      process.kill(enginePid, 0)
    } catch {
      return
    }
    throw new Error('the engine still runs')
  })
  t.pass()
})
