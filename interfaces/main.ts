/** The process that `npm start` runs. */
import * as E from 'fp-ts/lib/Either.js'
import { messageOf } from '../domain/shared/message-of.ts'
import { readSettings, type Settings } from '../infrastructure/settings/settings.ts'
import { CommandError, errorLines, SETTINGS_HINT } from './command-error.ts'
import { startService } from './compose.ts'
import type { RunningService } from './compose/service.ts'
import { survivesHangUp } from './hang-up.ts'
import './umask.ts'

const fail = (error: unknown): never => {
  console.error(errorLines(error))
  process.exit(1)
}

const isTaken = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
const portTaken = ({ host, port }: Settings): CommandError =>
  new CommandError(`Stenolog cannot start: ${host}:${port} is used by another program.`, {
    hint: 'Stop that program, or use any free port: STENOLOG_PORT=0 npm start',
  })

/** True when a parent process started the service (demo, transcribe, tests). The service ends with that process. */
const hasParent = process.connected

const settings = readSettings(process.env)
if (E.isLeft(settings)) fail(new CommandError(settings.left.join('\n'), { hint: SETTINGS_HINT }))
else {
  // Exits at once. An orderly stop would write to the stores and damage the data of the other process.
  const onReplaced = (reason: string): void => fail(`Stenolog stops: ${reason}`)
  const service: RunningService = await startService(settings.right, onReplaced).catch((error: unknown) =>
    fail(isTaken(error) ? portTaken(settings.right) : `Stenolog cannot start: ${messageOf(error)}`),
  )

  /**
   * On a terminal, Ctrl+C arrives twice: from the terminal and from npm. A second signal within this time is ignored.
   */
  const REPEATED_INTERRUPT_MS = 500
  let isStopping = false
  let interruptedAt = -Infinity
  const { logger } = service
  const stop = (code: number, why: string): void => {
    isStopping = true
    const startedAt = performance.now()
    logger.info({ why, sessions: service.sessions() }, 'stopping')
    service.stop().then(
      () => {
        logger.info({ seconds: Math.round((performance.now() - startedAt) / 1000) }, 'stopped')
        process.exit(code)
      },
      (error: unknown) => fail(`Stenolog did not stop cleanly: ${String(error)}`),
    )
  }
  const onSignal = (why: string): void => {
    if (isStopping) {
      logger.warn({ why }, 'stopped at once: this is the second request to stop')
      process.exit(1)
    }
    stop(0, why)
  }
  // The shell and the kernel both send this signal when a terminal closes. The second one must not end the drain.
  const onHangUp = (): void => {
    if (!isStopping) stop(0, 'SIGHUP')
  }
  const onInterrupt = (): void => {
    const sinceLast = performance.now() - interruptedAt
    interruptedAt = performance.now()
    if (!process.stdin.isTTY || sinceLast > REPEATED_INTERRUPT_MS) onSignal('SIGINT')
  }
  process.on('SIGTERM', () => onSignal('SIGTERM'))
  process.on('SIGINT', onInterrupt)
  if (!survivesHangUp) process.on('SIGHUP', onHangUp)
  const onOrphaned = (): void => onSignal('the parent process has ended')
  if (hasParent && process.connected) process.once('disconnect', onOrphaned)
  else if (hasParent) onOrphaned()
  // After an uncaught error the state is unknown. The service drains and stops, so a supervisor can restart it.
  process.on('uncaughtException', (error) => {
    logger.error({ err: error }, 'unexpected error; the service stops')
    if (!isStopping) stop(1, 'an unexpected error')
  })

  console.log(`Stenolog listens on ${service.url}`)
  // Printed instead of logged, because the link is a secret.
  const { setupLink } = service
  const showLink = (): void =>
    console.log(`Create the first administrator with this link (it works once, within 30 minutes): ${setupLink ?? ''}`)
  // On a terminal the link is printed one second later, so log lines of the start do not hide it.
  if (setupLink !== null && process.stdout.isTTY) setTimeout(showLink, 1000).unref()
  else if (setupLink !== null) showLink()
}
