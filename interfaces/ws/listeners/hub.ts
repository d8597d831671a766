import type { LiveBus, LiveSignal, EndCause, TranscriptFrame } from '../../../application/pipeline/signals.ts'
import { finalTextKey } from '../../../application/lives/queries/resume-point.ts'
import type { SocketRole } from '../../../application/ports/read-models.ts'
import { broadcastOf } from '../broadcast.ts'
import type { Broadcast } from '../broadcast.ts'
import type { Connection } from '../connection.ts'
import { endingFor, errorEnding } from '../ends.ts'
import type { Ending } from '../ends.ts'
import { STARTED, transcriptFrame } from '../frames.ts'

/** S31: what a socket may leave untaken. */
const LONGEST_BACKLOG = 1024 * 1024

const STARTED_FRAME = broadcastOf(STARTED)

export interface Member {
  readonly role: SocketRole
  readonly connection: Connection
  /** Finals that it has from the log and that are still to be told: each is left out once. */
  ahead?: Set<string>
}

interface Topic {
  readonly members: Set<Member>
  ended: EndCause | undefined
  leave: () => void
}

export interface Hub {
  /** From now on the member gets every frame of the live; the cause where the live ended already: then it did not join. */
  readonly join: (liveId: number, member: Member) => EndCause | undefined
  readonly leave: (liveId: number, member: Member) => void
  /** The bytes that members get, or got, for this frame. */
  readonly encode: (frame: TranscriptFrame) => Broadcast
  /** How many listen to the live. */
  readonly listenersOf: (liveId: number) => number
  /** Lives with a socket. */
  readonly size: () => number
}

/** One topic a live: a frame is serialised once and goes to the sender and all listeners in the same order. */
export const createHub = ({ bus, strict }: { readonly bus: LiveBus; readonly strict: boolean }): Hub => {
  const topics = new Map<number, Topic>()
  /** Of finals: whoever comes back gets the same bytes for as long as the final is remembered. */
  const encoded = new WeakMap<TranscriptFrame, Broadcast>()

  const encode = (frame: TranscriptFrame): Broadcast => {
    const known = encoded.get(frame)
    if (known !== undefined) return known
    const bytes = broadcastOf(transcriptFrame(frame, strict))
    if (frame.final) encoded.set(frame, bytes)
    return bytes
  }

  const deliver = ({ role, connection }: Member, frame: Broadcast): boolean => {
    if (connection.buffered() <= LONGEST_BACKLOG) {
      connection.broadcast(frame)
      return true
    }
    // A sender that does not read loses captions, not its live; the heartbeat decides about it.
    if (role === 'sender') return true
    connection.end(errorEnding('slow_consumer'))
    return false
  }

  const broadcast = (topic: Topic, frame: Broadcast, final: TranscriptFrame | null = null): void => {
    for (const member of topic.members) {
      if (final !== null && member.ahead?.delete(finalTextKey(final)) === true) continue
      if (!deliver(member, frame)) topic.members.delete(member)
    }
  }

  const close = (liveId: number, topic: Topic): void => {
    topic.leave()
    topics.delete(liveId)
  }

  const sendAway = (liveId: number, topic: Topic, endingOf: (role: SocketRole) => Ending | null): void => {
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
    sendAway(liveId, topic, (role) => endingFor(cause, role))
  }

  const hear = (liveId: number, topic: Topic, signal: LiveSignal): void => {
    switch (signal.kind) {
      case 'started':
        return broadcast(topic, STARTED_FRAME)
      case 'transcription':
      case 'translation':
        return broadcast(topic, encode(signal), signal.final ? signal : null)
      case 'ended':
        return finish(liveId, topic, signal.cause)
      case 'moved':
        return sendAway(liveId, topic, () => errorEnding('server_restart'))
    }
  }

  const open = (liveId: number): Topic => {
    const topic: Topic = { members: new Set(), ended: undefined, leave: () => undefined }
    const leave = bus.subscribe(liveId, (signal) => hear(liveId, topic, signal))
    // The bus tells an end that is past while we subscribe.
    if (topic.ended !== undefined) {
      leave()
      return topic
    }
    topic.leave = leave
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
