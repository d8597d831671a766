import type { Logger } from '../../../application/ports/environment.ts'
import type { Member } from '../../../application/ports/members.ts'

const about = ({ name: member, incarnation, roles, version }: Member) => ({ member, incarnation, roles, version })

/** Logs which other processes have appeared, begun a planned stop, or left. A lost process is logged elsewhere. */
export const logMemberChanges = (
  logger: Pick<Logger, 'info'>,
  before: ReadonlyArray<Member>,
  after: ReadonlyArray<Member>,
  lost: ReadonlyArray<Member>,
): void => {
  const found = (members: ReadonlyArray<Member>, { incarnation }: Member): Member | undefined =>
    members.find((member) => member.incarnation === incarnation)
  for (const member of after) {
    const earlier = found(before, member)
    if (earlier === undefined) logger.info(about(member), 'a member is up')
    else if (earlier.state === 'up' && member.state !== 'up') logger.info(about(member), 'a member stops as planned')
  }
  for (const member of before)
    if (found(after, member) === undefined && found(lost, member) === undefined)
      logger.info(about(member), 'a member has left')
}
