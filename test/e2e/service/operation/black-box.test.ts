import test from 'ava'
import { ABUSE_PROBES } from '../../../support/black-box/abuse-probes.ts'
import { ERROR_PROBES } from '../../../support/black-box/error-probes.ts'
import type { Probe } from '../../../support/black-box/probe.ts'
import { startSubject, type Subject } from '../../../support/black-box/subject.ts'

const isLight = ({ isHeavy = false }: Probe): boolean => !isHeavy
/** Probes that need no settings and no administrator share one service, because they leave it intact. */
const usesSharedService = ({ settings, withAdmin }: Probe): boolean => settings === undefined && withAdmin === undefined

for (const { name, settings = {}, run, ...options } of [
  ...ABUSE_PROBES,
  ...ERROR_PROBES.filter((probe) => !usesSharedService(probe)),
].filter(isLight))
  test(name, async (t) => {
    t.timeout(180_000)
    const subject = await startSubject(process.cwd(), settings, options)
    t.teardown(subject.stop)
    await run(subject)
    t.pass()
  })

let shared: Promise<Subject> | undefined
test.after.always(async () => (await shared)?.stop())

for (const { name, run } of ERROR_PROBES.filter(isLight).filter(usesSharedService))
  test(name, async (t) => {
    t.timeout(180_000)
    await run(await (shared ??= startSubject(process.cwd(), {})))
    t.pass()
  })
