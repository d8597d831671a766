import test from 'ava'
import { ABUSE_PROBES } from '../../support/black-box/abuse-probes.ts'
import { ERROR_PROBES } from '../../support/black-box/error-probes.ts'
import { isLight } from '../../support/black-box/probe.ts'
import { startSubject } from '../../support/black-box/subject.ts'

/** A test of test/e2e runs the light probes. */
const heavyProbes = [...ABUSE_PROBES, ...ERROR_PROBES.filter((probe) => !isLight(probe))]

for (const { name, settings = {}, run, ...options } of heavyProbes)
  test(name, async (t) => {
    t.timeout(600_000)
    const subject = await startSubject(process.cwd(), settings, options)
    t.teardown(subject.stop)
    await run(subject)
    t.pass()
  })
