import { randomUUID } from 'node:crypto'
import { SCAVENGES_METADATA, SCAVENGE_POINTS, systemEvent, type EventLog } from './event-log.ts'

/**
 * Takes from the log what limits, deletions and tombstones hide, and writes what the real server writes about it;
 * answers
 * its id. It has ended when it answers, where the real server goes on; and it takes all, where the real one leaves what
 * lies in its newest chunk.
 */
export const scavenge = (log: EventLog): string => {
  const scavengeId = randomUUID()
  const stream = `$scavenges-${scavengeId}`
  const write = (to: string, type: string, data: unknown): void =>
    void log.write(to, log.last(to) + 1n, [systemEvent(type, typeof data === 'string' ? data : JSON.stringify(data))])
  const about = { scavengeId, nodeEndpoint: '127.0.0.1:2113' }
  write(`$$${stream}`, '$metadata', SCAVENGES_METADATA)
  write(stream, '$scavengeStarted', about)
  write('$scavenges', '$>', `0@${stream}`)
  write(SCAVENGE_POINTS, '$scavengePoint', { threshold: -1 })
  write(stream, '$scavengeChunksCompleted', {
    ...about,
    chunkStartNumber: 0,
    chunkEndNumber: 0,
    wasScavenged: true,
    spaceSaved: 0,
    errorMessage: '',
  })
  write(stream, '$scavengeCompleted', { ...about, result: 'Success', error: null, spaceSaved: 0, maxChunkScavenged: 0 })
  write('$scavenges', '$>', `2@${stream}`)
  return scavengeId
}
