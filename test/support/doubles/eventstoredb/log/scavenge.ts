import { randomUUID } from 'node:crypto'
import { SCAVENGES_METADATA, SCAVENGE_POINTS, systemEvent, type EventLog } from './event-log.ts'

/**
 * Removes everything that limits and deletions hide, and writes the events of a real scavenge. Returns its id.
 * Unlike a real scavenge it has ended when it returns, and it includes the newest chunk.
 */
export const scavenge = (log: EventLog): string => {
  const scavengeId = randomUUID()
  const stream = `$scavenges-${scavengeId}`
  const write = (to: string, type: string, data: unknown): void =>
    void log.write(to, log.last(to) + 1n, [systemEvent(type, typeof data === 'string' ? data : JSON.stringify(data))])
  const scavengeInfo = { scavengeId, nodeEndpoint: '127.0.0.1:2113' }
  write(`$$${stream}`, '$metadata', SCAVENGES_METADATA)
  write(stream, '$scavengeStarted', scavengeInfo)
  write('$scavenges', '$>', `0@${stream}`)
  write(SCAVENGE_POINTS, '$scavengePoint', { threshold: -1 })
  write(stream, '$scavengeChunksCompleted', {
    ...scavengeInfo,
    chunkStartNumber: 0,
    chunkEndNumber: 0,
    wasScavenged: true,
    spaceSaved: 0,
    errorMessage: '',
  })
  const result = { result: 'Success', error: null, spaceSaved: 0, maxChunkScavenged: 0 }
  write(stream, '$scavengeCompleted', { ...scavengeInfo, ...result })
  write('$scavenges', '$>', `2@${stream}`)
  return scavengeId
}
