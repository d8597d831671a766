/** `npm start`: the service as a process. */
import * as E from 'fp-ts/lib/Either.js'
import { messageOf } from '../domain/shared/message-of.ts'
import { readSettings } from '../infrastructure/settings.ts'
import type { Settings } from '../infrastructure/settings.ts'
import { CommandError, errorLines, SETTINGS_HINT } from './command-error.ts'
import { startService } from './compose.ts'
import type { RunningService } from './compose.ts'

const fail = (error: unknown): never => {
  console.error(errorLines(error))
  process.exit(1)
}

const isTaken = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
const portTaken = ({ host, port }: Settings): CommandError =>
  new CommandError(`Stenolog cannot start: ${host}:${port} is used by another program.`, {
    hint: 'Stop it, or take any free port: STENOLOG_PORT=0 npm start',
  })

// What the service writes is for its user alone.
process.umask(0o077)

/** Started by a program of ours (demo, transcribe, tests): ends with it, though that may be gone before we have begun. */
const hasParent = process.connected

const settings = readSettings(process.env)
if (E.isLeft(settings)) fail(new CommandError(settings.left.join('\n'), { hint: SETTINGS_HINT }))
else {
  // Without a drain: what this process would still write, another one's service stands on.
  const onReplaced = (why: string): void => fail(`Stenolog ends: ${why}`)
  const service: RunningService = await startService(settings.right, onReplaced).catch((error: unknown) =>
    fail(isTaken(error) ? portTaken(settings.right) : `Stenolog cannot start: ${messageOf(error)}`),
  )

  /** On a terminal npm passes on the interrupt that we have had from the terminal already. */
  const ECHO_MS = 500
  let stopping = false
  let interrupted = -Infinity
  const stop = (code: number): void => {
    stopping = true
    service.stop().then(
      () => process.exit(code),
      (error: unknown) => fail(`Stenolog did not stop cleanly: ${String(error)}`),
    )
  }
  const onSignal = (): void => {
    if (stopping) process.exit(1)
    stop(0)
  }
  const onInterrupt = (): void => {
    const since = performance.now() - interrupted
    interrupted = performance.now()
    if (!process.stdin.isTTY || since > ECHO_MS) onSignal()
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onInterrupt)
  if (hasParent && process.connected) process.once('disconnect', onSignal)
  else if (hasParent) onSignal()
  // What nobody caught leaves the state unknown: the open lives are drained, then whoever watches us starts us anew.
  process.on('uncaughtException', (error) => {
    service.logger.error({ err: error }, 'unexpected error; the service stops')
    if (!stopping) stop(1)
  })

  console.log(`Stenolog listens on ${service.url}`)
  // Beside the log, where secrets have no place.
  const { setupLink } = service
  const showLink = (): void => console.log(`Create the first administrator (once, within 30 minutes): ${setupLink ?? ''}`)
  // What starts beside the service logs in its first second: a person finds the link below it.
  if (setupLink !== null && process.stdout.isTTY) setTimeout(showLink, 1000).unref()
  else if (setupLink !== null) showLink()
}
