import { readFileSync } from 'node:fs'

/**
 * Whether `nohup` started this process: it replaces the terminal as standard input by a file that cannot be read. Node
 * cannot see more, because it resets the ignored signals when it starts. Linux only.
 */
const isUnderNohup = (): boolean => {
  try {
    return /^flags:\s+\d*1$/m.test(readFileSync('/proc/self/fdinfo/0', 'utf8'))
  } catch {
    return false
  }
}

/** True when `nohup` started this process. Loading this module then lets the process ignore SIGHUP. */
export const survivesHangUp = isUnderNohup()
if (survivesHangUp) process.on('SIGHUP', () => undefined)

/** The standard input for children that should survive as this process does. They do not read it. */
export const inputOfChildren = survivesHangUp ? 'inherit' : 'ignore'
