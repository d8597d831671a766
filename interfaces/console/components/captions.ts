import { useSignal } from '@preact/signals'
import { Component, type VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Caption, Captions } from '../../client/captions.ts'
import { formatSpan, t } from '../messages/texts.ts'
import { bdi, button, div, p, span, time, view } from '../ui/tags.ts'

/** Lines are rendered in blocks, so a new line in a long session renders only the last block. */
const BLOCK_LINES = 100

const line = (caption: Caption): VNode =>
  div(
    { key: caption.key },
    p(
      { lang: caption.language, dir: 'auto' },
      time(null, formatSpan(caption.start)), bdi(null, caption.text.toWellFormed()),
    ),
    ...Object.entries(caption.translations).map(([language, text]) =>
      p({ key: language, lang: language, dir: 'auto' }, span({ class: 'language' }, language),
        bdi(null, text.toWellFormed())),
    ),
  )

interface BlockProps {
  readonly lines: ReadonlyArray<Caption>
}

class Block extends Component<BlockProps> {
  override shouldComponentUpdate({ lines }: BlockProps): boolean {
    const before = this.props.lines
    return lines.length !== before.length || lines.some((caption, i) => caption !== before[i])
  }

  render({ lines }: BlockProps): VNode {
    return div({ class: 'block' }, ...lines.map(line))
  }
}

const block = view(Block)

interface CaptionsProps {
  readonly captions: Captions
  /** Text that is shown while there are no captions. */
  readonly empty: string
}

/** The list follows new captions while it is scrolled within this distance of its end, in pixels. */
const END_TOLERANCE = 40

const CaptionList = ({ captions: { lines, running }, empty }: CaptionsProps): VNode => {
  const region = useRef<HTMLDivElement>(null)
  const isFollowing = useSignal(true)
  const toEnd = (): void => {
    isFollowing.value = true
    region.current?.scrollTo({ top: region.current.scrollHeight })
  }
  useEffect(() => {
    if (isFollowing.peek()) region.current?.scrollTo({ top: region.current.scrollHeight })
  }, [lines, running])
  const blocks = Array.from({ length: Math.ceil(lines.length / BLOCK_LINES) }, (_, i) =>
    lines.slice(i * BLOCK_LINES, (i + 1) * BLOCK_LINES))
  return div(
    null,
    div(
      {
        class: 'captions', ref: region, tabIndex: 0, role: 'region', 'aria-label': t('captions'),
        onScroll: ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isFollowing.value = scrollHeight - scrollTop - clientHeight < END_TOLERANCE
        },
      },
      lines.length === 0 && running === null ? p({ class: 'hint' }, empty) : null,
      div({ role: 'log', 'aria-live': 'polite', 'aria-label': t('captions') },
        ...blocks.map((blockLines, i) => block({ key: i, lines: blockLines }))),
      running === null ? null : p(
        { class: 'running', 'aria-hidden': true, dir: 'auto', lang: running.language },
        time(null, formatSpan(running.start)), bdi(null, `${running.text.toWellFormed()} …`),
      ),
    ),
    isFollowing.value ? null : button({ type: 'button', onClick: toEnd, 'data-key': 'End' }, `↓ ${t('newest')}`),
  )
}

/** Shows the captions of a session. Screen readers announce only final text. Draft text is shown in a muted colour. */
export const captionList = view(CaptionList)
