import { spawn } from 'node:child_process'
import type { Puller, PullerEvents, StartPuller } from '../../../application/ports/audio-source.ts'
import { inheritedVariables } from '../../node/inherited-variables.ts'
import type { AddressRules } from '../network/address-guard.ts'
import { pullerCommand } from '../child-commands.ts'
import type { SourceIsolation } from '../source-isolation.ts'
import { createFrameReader } from './puller-messages.ts'
import type { PullCommand, PullerMessage } from './puller-messages.ts'

/** F9: how long a puller may take over its own end. */
const GRACE_MS = 500

/** All that a puller needs of our environment. */
const INHERITED = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'SystemRoot']

/** Samples of their own: a piece of a frame may begin at an odd address. */
const samplesOf = (pcm: Buffer): Int16Array => {
  const copy = new Uint8Array(pcm)
  return new Int16Array(copy.buffer, 0, Math.floor(copy.length / 2))
}

const tell = (events: PullerEvents, message: PullerMessage): void => {
  switch (message.kind) {
    case 'began':
      return events.began()
    case 'stretch':
      return events.stretch(message.continuity)
    case 'heard':
      return events.heard(message.mediaSequence)
    case 'target':
      return events.targetDuration(message.seconds)
    case 'ended':
      return events.ended(message.end)
  }
}

export interface PullersOptions {
  /** As it is when a pull begins: the own port is known late. */
  readonly rules: () => AddressRules
  readonly isolation: Pick<SourceIsolation, 'isolate' | 'pulls'>
}

/** In place of a process where no URL is pulled. */
const refusing = (events: PullerEvents): Puller => ({
  pid: null,
  pull: () => queueMicrotask(() => events.ended({ kind: 'failed', code: 'not_isolated', retry: false })),
  pause: () => undefined,
  resume: () => undefined,
  stop: () => Promise.resolve(),
})

/** Pullers as processes of their own, each the leader of a group that dies as a whole. */
export const createPullers = ({ rules, isolation }: PullersOptions): StartPuller =>
  (events) => {
    if (!isolation.pulls) return refusing(events)
    const { file, args } = pullerCommand()
    const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'ignore'], env: inheritedVariables(INHERITED), cwd: '/', detached: true })
    const { pid } = child
    let over = false

    /** The puller and its decoder, also one that is stopped or whose parent died first. */
    const killGroup = (): void => {
      try {
        if (pid !== undefined) process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
      } catch {
        // Nobody is left.
      }
    }
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => {
        killGroup()
        resolve()
      })
      child.once('error', () => resolve())
    })
    const died = (reason: string): void => {
      if (over) return
      over = true
      killGroup()
      events.died(reason)
    }
    const read = createFrameReader({
      audio: ({ pcm, time }) => { if (!over) events.audio(samplesOf(pcm), time) },
      message: (message) => { if (!over) tell(events, message) },
    })
    child.stdout.on('data', (bytes: Buffer) => {
      try {
        read(bytes)
      } catch (error) {
        died(String(error))
      }
    })
    // Behind its last audio; also when it could not be started.
    child.once('close', (code, signal) => died(signal ?? `exit code ${code}`))
    child.once('error', (error) => died(error.message))
    child.stdin.on('error', () => undefined)

    return {
      pid: pid ?? null,
      pull: (target) => {
        const command: PullCommand = { ...target, rules: rules(), isolate: isolation.isolate }
        child.stdin.write(`${JSON.stringify(command)}\n`)
      },
      pause: () => {
        child.stdout.pause()
      },
      resume: () => {
        child.stdout.resume()
      },
      stop: async () => {
        over = true
        child.stdout.destroy()
        child.stdin.end()
        child.kill('SIGTERM')
        const grace = setTimeout(killGroup, GRACE_MS)
        await exited
        clearTimeout(grace)
      },
    }
  }
