/**
 * Probes the service of a checkout from outside, over real sockets, and says of each probe whether it is as a stranger
 * would expect: `node test/support/black-box/run.ts [CHECKOUT [PART-OF-NAME]]`, by default this one. Exit code 1 when
 * one is not.
 */
import { resolve } from 'node:path'
import { ABUSE } from './abuse-probes.ts'
import { MANNERS } from './error-probes.ts'
import { startSubject } from './subject.ts'

const checkout = resolve(process.argv[2] ?? '.')
let failed = 0
const wanted = [...ABUSE, ...MANNERS].filter(({ name }) => name.includes(process.argv[3] ?? ''))
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
console.log(`${wanted.length - failed} of ${wanted.length} probes are as they should be`)
process.exitCode = failed === 0 ? 0 : 1
