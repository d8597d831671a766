/**
 * Runs the probes on the service of a checkout: `node test/support/black-box/run.ts [CHECKOUT [PART-OF-NAME]]`. By
 * default it runs all probes on this checkout. Prints the result of each probe. Exit code 1: a probe failed.
 */
import { resolve } from 'node:path'
import { ABUSE_PROBES } from './abuse-probes.ts'
import { ERROR_PROBES } from './error-probes.ts'
import { startSubject } from './subject.ts'

const checkout = resolve(process.argv[2] ?? '.')
let failed = 0
const wanted = [...ABUSE_PROBES, ...ERROR_PROBES].filter(({ name }) => name.includes(process.argv[3] ?? ''))
for (const { name, settings = {}, run, ...options } of wanted) {
  const subject = await startSubject(checkout, settings, options)
  try {
    await run(subject)
    console.log(`ok      ${name}`)
  } catch (error) {
    failed += 1
    console.log(`not ok  ${name}: ${String(error instanceof Error ? error.message : error).split('\n')[0]}`)
  } finally {
    await subject.stop()
  }
}
console.log(`${wanted.length - failed} of ${wanted.length} probes passed`)
process.exitCode = failed === 0 ? 0 : 1
