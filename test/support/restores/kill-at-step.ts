// Preloaded into a command (`--import`): kills its process before the step with the number KILL_AT_STEP. A step is a
// call that changes files, counted from 1.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import process from 'node:process'

const killAt = Number(process.env['KILL_AT_STEP'])
let step = 0

const counted = <Args extends ReadonlyArray<unknown>, A>(run: (...args: Args) => A) => (...args: Args): A => {
  step += 1
  if (step === killAt) process.kill(process.pid, 'SIGKILL')
  return run(...args)
}

const { promises } = fs
promises.rename = counted(promises.rename)
promises.rm = counted(promises.rm)
promises.writeFile = counted(promises.writeFile)
fs.createWriteStream = counted(fs.createWriteStream)
syncBuiltinESMExports()
