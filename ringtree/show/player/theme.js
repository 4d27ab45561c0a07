// Light or dark: as the system is set, or as the address says: play.html#theme=dark, light or auto.
//
// Whoever has the page in a frame changes the end of its address, also from a file and from another host, and it goes on
// playing. It runs before anything is drawn. Not for: the colours themselves (player.css).
'use strict';

{
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  const choose = () => {
    const asked = new URLSearchParams(window.location.hash.slice(1)).get('theme');
    const dark = asked === 'dark' || (asked !== 'light' && system.matches);
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    window.dispatchEvent(new Event('themechange'));
  };
  system.addEventListener('change', choose);
  window.addEventListener('hashchange', choose);
  choose();
}
