import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { TEST_PROVIDER } from '../../../infrastructure/onnx/providers/engine-environment.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { childrenOf } from '../../support/tools/footprint.ts'
import { runTestService, type TestService } from '../../support/service/service.ts'
import { serialTestWith } from '../../support/running/skip-unless.ts'
import { silence } from '../../support/audio/speech.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { readWav } from '../../support/audio/wav.ts'
import { withFloatWeights } from '../../support/webgpu/float-weights.ts'
import { TESTED_GPU } from '../../support/webgpu/tested-gpu.ts'

/** Whole sessions on WebGPU with a software GPU. */
const onGpu = serialTestWith(...TESTED_GPU.needs)
const SPOKEN = ['simon', 'sheep'].map((name) => readWav(`test/support/fixtures/engine/${name}.wav`))
const TEXT = ['Simon came easily in February.', 'Do not save the brave sheep.']
const LIMIT = { timeoutMs: 300_000 }
/** On a busy machine the software GPU needs minutes to compile a graph, and again after a restart. */
const TEXT_LIMIT = { timeoutMs: 900_000 }

const startOnGpu = async (t: ExecutionContext): Promise<TestService> => {
  const models = await temporaryDirectory()
  await withFloatWeights('models/demo-en', join(models.path, 'demo-float'))
  const { dispose, ...service } = await runTestService({ MODELS_DIR: models.path }, undefined, {
    ...TESTED_GPU.environment,
    [TEST_PROVIDER]: TESTED_GPU.provider,
  })
  t.teardown(dispose)
  t.teardown(models.remove)
  return service
}

/** Starts a session and sends all of its audio. */
const speak = async (service: TestService) => {
  const client = await service.user('speaker')
  const live = await client.createLive({ model: 'demo-float' })
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  for (const samples of SPOKEN.flatMap((clip) => [clip, silence(2)])) sender.sendAudio(samples)
  return sender
}

const enginePidOf = (service: TestService): number => {
  const found = childrenOf(service.pid()).find((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('engine-process.ts\0speech'),
  )
  if (found === undefined) throw new Error('no engine runs')
  return found
}

/** Returns user and system time of a process in hundredths of a second. */
const ticksOf = (pid: number): number =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .slice(11, 13)
    .reduce((sum, ticks) => sum + Number(ticks), 0)

/** Runs a session, calls `disturb` during a pass, and returns the text. */
const textOf = async (t: ExecutionContext, disturb: (service: TestService) => Promise<void>) => {
  t.timeout(20 * 60_000)
  const service = await startOnGpu(t)
  const sender = await speak(service)
  await disturb(service)
  const finals = () => sender.frames.filter(({ type, final }) => type === 'transcription' && final === true)
  // FINISH gives passes 30 seconds, which a software GPU exceeds on a busy machine.
  await eventually(() => assert.equal(finals().length, TEXT.length), TEXT_LIMIT)
  sender.send({ type: 'FINISH' })
  await sender.ended
  return { text: finals().map(({ text }) => String(text)), log: service.log() }
}

onGpu('a session on WebGPU returns the same text as on the CPU', async (t) => {
  const { text, log } = await textOf(t, async () => undefined)
  t.deepEqual(text, TEXT)
  t.true(log.includes(`models run on ${TESTED_GPU.provider}`))
  t.notRegex(log, /the CPU takes over/)
})

for (const [named, signal] of [['is killed', 'SIGKILL'], ['aborts in the provider', 'SIGABRT']] as const)
  onGpu(`an engine that ${named} in the middle of a pass on WebGPU loses no text`, async (t) => {
    let killed = 0
    const { text } = await textOf(t, async (service) => {
      killed = enginePidOf(service)
      const idle = ticksOf(killed)
      await eventually(() => {
        if (ticksOf(killed) < idle + 100) throw new Error('no pass has begun yet')
      }, LIMIT)
      process.kill(killed, signal)
      await eventually(() => {
        if (enginePidOf(service) === killed) throw new Error('the engine has not restarted')
      }, LIMIT)
    })
    t.deepEqual(text, TEXT)
    t.true(killed > 0)
  })
