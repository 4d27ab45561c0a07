// Players in their frames are light or dark as the page around them. For: docs/_ext/player.py, Furo's switch.
// Not for: the player's colours (ringtree/show/player). A frame is told by the end of its address, which works from
// files too, where pages can't look into each other; it goes on playing.
'use strict';

{
  const frames = [...document.querySelectorAll('figure.player iframe')];
  // One that nobody has scrolled to is still empty, and ours to look into.
  const loaded = (frame) => frame.contentDocument === null || frame.contentDocument.URL !== 'about:blank';
  const tell = (frame) => {
    const address = `${frame.src.split('#')[0]}#theme=${document.body.dataset.theme || 'auto'}`;
    if (loaded(frame)) frame.contentWindow.location.replace(address); // without an entry in the history
    else frame.src = address; // without loading it for this
  };
  frames.forEach(tell);
  new MutationObserver(() => frames.forEach(tell)).observe(document.body, { attributeFilter: ['data-theme'] });
}
