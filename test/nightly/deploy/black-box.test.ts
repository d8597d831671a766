import test from 'ava'
import { ABUSE_PROBES } from '../../support/black-box/abuse-probes.ts'
import { ERROR_PROBES } from '../../support/black-box/error-probes.ts'
import { startSubject } from '../../support/black-box/subject.ts'

const heavyProbes = [...ABUSE_PROBES, ...ERROR_PROBES].filter(({ isHeavy = false }) => isHeavy)

for (const { name, settings = {}, run, ...options } of heavyProbes)
  test(name, async (t) => {
    t.timeout(600_000)
    const subject = await startSubject(process.cwd(), settings, options)
    t.teardown(subject.stop)
    await run(subject)
    t.pass()
  })
