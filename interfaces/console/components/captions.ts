import { useSignal } from '@preact/signals'
import { Component } from 'preact'
import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Caption, Captions } from '../../client/captions.ts'
import { formatSpan, t } from '../messages/texts.ts'
import { bdi, button, div, p, span, time, view } from '../ui/tags.ts'

/** Lines that are drawn together; of a long session only the last of these changes. */
const BLOCK = 100

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
    return lines.length !== before.length || lines.some((one, i) => one !== before[i])
  }

  render({ lines }: BlockProps): VNode {
    return div({ class: 'block' }, ...lines.map(line))
  }
}

const block = view(Block)

interface CaptionsProps {
  readonly captions: Captions
  /** Said where there is no line yet. */
  readonly empty: string
}

/** Nearer to the end than this is at the end, in pixels. */
const NEAR = 40

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
  const blocks = Array.from({ length: Math.ceil(lines.length / BLOCK) }, (_, i) =>
    lines.slice(i * BLOCK, (i + 1) * BLOCK))
  return div(
    null,
    div(
      {
        class: 'captions', ref: region, tabIndex: 0, role: 'region', 'aria-label': t('captions'),
        onScroll: ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isFollowing.value = scrollHeight - scrollTop - clientHeight < NEAR
        },
      },
      lines.length === 0 && running === null ? p({ class: 'hint' }, empty) : null,
      div({ role: 'log', 'aria-live': 'polite', 'aria-label': t('captions') },
        ...blocks.map((some, i) => block({ key: i, lines: some }))),
      running === null ? null : p(
        { class: 'running', 'aria-hidden': true, dir: 'auto', lang: running.language },
        time(null, formatSpan(running.start)), bdi(null, `${running.text.toWellFormed()} …`),
      ),
    ),
    isFollowing.value ? null : button({ type: 'button', onClick: toEnd, 'data-key': 'End' }, `↓ ${t('newest')}`),
  )
}

/** The captions of a session: finals solid and announced, what is being said muted. */
export const captionList = view(CaptionList)
