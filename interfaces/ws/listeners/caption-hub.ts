import type { EndCause } from '../../../domain/live/events.ts'
import type { TranscriptFrame } from '../../../domain/transcript/frame.ts'
import type { LiveBus, LiveSignal } from '../../../application/pipeline/signals.ts'
import { finalTextKey } from '../../../application/lives/queries/resume-point.ts'
import type { SocketRole } from '../../../application/ports/read-models.ts'
import { type Broadcast, encodeBroadcast } from '../encoded-frame.ts'
import type { Connection } from '../connection.ts'
import { type Ending, endingFor, errorEnding } from '../ends.ts'
import { STARTED, transcriptFrame } from '../frames.ts'

/** Unread bytes that a socket may have. */
const MAX_BACKLOG_BYTES = 1024 * 1024

const STARTED_FRAME = encodeBroadcast(STARTED)

export interface Member {
  readonly role: SocketRole
  readonly connection: Connection
  /** Keys of final segments that the member already got from the log. The hub skips each of them once. */
  sentAhead?: Set<string>
}

/** The sockets of one session. */
interface Topic {
  readonly members: Set<Member>
  ended: EndCause | undefined
  unsubscribe: () => void
}

/** Distributes the frames of sessions to their sockets. */
export interface Hub {
  /** Adds a member, which then gets every frame. If the session has ended, returns the cause and adds nothing. */
  readonly join: (liveId: number, member: Member) => EndCause | undefined
  readonly leave: (liveId: number, member: Member) => void
  /** Returns the bytes of a frame, equal for every member. */
  readonly encode: (frame: TranscriptFrame) => Broadcast
  readonly listenersOf: (liveId: number) => number
  /** Number of sessions with a socket. */
  readonly size: () => number
}

/** Creates a hub. A frame is encoded once, and goes to the sender and all listeners in the same order. */
export const createHub = ({ bus, strict }: { readonly bus: LiveBus; readonly strict: boolean }): Hub => {
  const topics = new Map<number, Topic>()
  /** Encoded final segments, for members that reconnect. An entry is kept as long as its frame. */
  const encoded = new WeakMap<TranscriptFrame, Broadcast>()

  const encode = (frame: TranscriptFrame): Broadcast => {
    const cached = encoded.get(frame)
    if (cached !== undefined) return cached
    const bytes = encodeBroadcast(transcriptFrame(frame, strict))
    if (frame.final) encoded.set(frame, bytes)
    return bytes
  }

  const deliver = ({ role, connection }: Member, frame: Broadcast): boolean => {
    if (connection.buffered() <= MAX_BACKLOG_BYTES) {
      connection.broadcast(frame)
      return true
    }
    // A sender that does not read loses captions, but keeps its session. The heartbeat ends a dead connection.
    if (role === 'sender') return true
    connection.end(errorEnding('slow_consumer'))
    return false
  }

  const broadcast = (topic: Topic, frame: Broadcast, final: TranscriptFrame | null = null): void => {
    for (const member of topic.members) {
      if (final !== null && member.sentAhead?.delete(finalTextKey(final)) === true) continue
      if (!deliver(member, frame)) topic.members.delete(member)
    }
  }

  const close = (liveId: number, topic: Topic): void => {
    topic.unsubscribe()
    topics.delete(liveId)
  }

  const disconnectAll = (liveId: number, topic: Topic, endingOf: (role: SocketRole) => Ending | null): void => {
    close(liveId, topic)
    for (const { role, connection } of topic.members) {
      const ending = endingOf(role)
      if (ending === null) connection.drop()
      else connection.end(ending)
    }
    topic.members.clear()
  }

  const finish = (liveId: number, topic: Topic, cause: EndCause): void => {
    topic.ended = cause
    disconnectAll(liveId, topic, (role) => endingFor(cause, role))
  }

  const handleSignal = (liveId: number, topic: Topic, signal: LiveSignal): void => {
    switch (signal.kind) {
      case 'started':
        return broadcast(topic, STARTED_FRAME)
      case 'transcription':
      case 'translation':
        return broadcast(topic, encode(signal), signal.final ? signal : null)
      case 'ended':
        return finish(liveId, topic, signal.cause)
      case 'moved':
        return disconnectAll(liveId, topic, () => errorEnding('server_restart'))
    }
  }

  const open = (liveId: number): Topic => {
    const topic: Topic = { members: new Set(), ended: undefined, unsubscribe: () => undefined }
    const unsubscribe = bus.subscribe(liveId, (signal) => handleSignal(liveId, topic, signal))
    // During `subscribe` the bus repeats the end of a session that has ended.
    if (topic.ended !== undefined) {
      unsubscribe()
      return topic
    }
    topic.unsubscribe = unsubscribe
    topics.set(liveId, topic)
    return topic
  }

  return {
    join: (liveId, member) => {
      const topic = topics.get(liveId) ?? open(liveId)
      if (topic.ended === undefined) topic.members.add(member)
      return topic.ended
    },
    leave: (liveId, member) => {
      const topic = topics.get(liveId)
      if (topic === undefined) return
      topic.members.delete(member)
      if (topic.members.size === 0) close(liveId, topic)
    },
    encode,
    listenersOf: (liveId) => [...(topics.get(liveId)?.members ?? [])].filter(({ role }) => role === 'listener').length,
    size: () => topics.size,
  }
}
